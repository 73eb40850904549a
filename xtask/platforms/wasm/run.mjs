// Runs the checks of a module: node run.mjs MODULE. Prints what failed, and "N passed, M failed".
import { readFile } from "node:fs/promises";

const { instance } = await WebAssembly.instantiate(await readFile(process.argv[2]), {});
const { memory, checks, name, check, said } = instance.exports;

const text = (address) => {
  const [start, length] = new Uint32Array(memory.buffer, address, 2);
  return new TextDecoder().decode(new Uint8Array(memory.buffer, start, length));
};

let failed = 0;
const count = checks();
for (let number = 0; number < count; number++) {
  const what = text(name(number));
  try {
    check(number);
  } catch (error) {
    failed += 1;
    console.log(`${what}: ${text(said()) || error}`);
    // After a panic the module's state is whatever it is: the rest is not tried.
    failed += count - number - 1;
    break;
  }
}
console.log(`${count - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
