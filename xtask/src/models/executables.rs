//! Finds the test executables in cargo's JSON messages, by what stands around them.

use std::path::PathBuf;

use super::ModelBinary;

/// The test binaries among the artifacts, one message a line.
pub(crate) fn test_binaries(messages: &str) -> Vec<ModelBinary> {
    messages.lines().filter_map(test_binary).collect()
}

fn test_binary(message: &str) -> Option<ModelBinary> {
    if !message.contains(r#""reason":"compiler-artifact""#) {
        return None;
    }
    let (_, target) = message.split_once(r#""target":{"#)?;
    if !target.starts_with(r#""kind":["test"]"#) {
        return None;
    }
    Some(ModelBinary {
        name: string_after(target, r#""name":"#)?,
        path: PathBuf::from(string_after(target, r#""executable":"#)?),
    })
}

/// The JSON string right after the key. `None` if there is something else, such as `null`.
fn string_after(text: &str, key: &str) -> Option<String> {
    let (_, value) = text.split_once(key)?;
    let mut rest = value.strip_prefix('"')?.chars();
    let mut string = String::new();
    loop {
        match rest.next()? {
            '"' => return Some(string),
            // Paths hold no other escapes than backslashes and quotes.
            '\\' => string.push(rest.next()?),
            c => string.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_test_artifacts_with_an_executable_count() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","package_id":"p","target":{"kind":["lib"],"crate_types":["lib"],"#,
            r#""name":"drowse_models","src_path":"/x/src/lib.rs"},"executable":"/x/deps/drowse_models-1"}"#,
            "\n",
            r#"{"reason":"compiler-artifact","package_id":"p","target":{"kind":["test"],"crate_types":["bin"],"#,
            r#""name":"loom_latch","src_path":"/x/tests/loom_latch.rs"},"profile":{"test":true},"#,
            r#""filenames":["/x/deps/loom_latch-2"],"executable":"/x/deps/loom_latch-2","fresh":true}"#,
            "\n",
            r#"{"reason":"compiler-artifact","package_id":"p","target":{"kind":["test"],"crate_types":["bin"],"#,
            r#""name":"loom_none","src_path":"/x/tests/loom_none.rs"},"executable":null,"fresh":true}"#,
            "\n",
            r#"{"reason":"build-finished","success":true}"#,
            "\n",
        );
        let latch =
            ModelBinary { name: "loom_latch".to_string(), path: PathBuf::from("/x/deps/loom_latch-2") };
        assert_eq!(test_binaries(messages), [latch]);
    }

    #[test]
    fn escaped_paths_are_read() {
        let text = r#""executable":"C:\\deps\\a \"b\".exe","fresh":true"#;
        assert_eq!(string_after(text, r#""executable":"#).unwrap(), r#"C:\deps\a "b".exe"#);
    }
}
