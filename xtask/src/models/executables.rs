//! Finds the test executables in cargo's JSON messages, by what stands around them.

use std::path::PathBuf;

use super::ModelBinary;
use crate::json::string_after;

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
}
