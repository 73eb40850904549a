//! Every crate of the workspace takes the workspace's lints.

use super::Problem;

/// Problems with the members' manifests, found by the root's list of members.
pub(crate) fn check(files: &[(String, String)]) -> Vec<Problem> {
    let root = files.iter().find(|(path, _)| path == "Cargo.toml");
    let members = root.map(|(_, text)| members(text)).unwrap_or_default();
    if members.is_empty() {
        return vec![Problem::at("Cargo.toml", 0, "the workspace has no members")];
    }
    files
        .iter()
        .filter(|(path, _)| {
            path.strip_suffix("/Cargo.toml")
                .is_some_and(|directory| members.iter().any(|member| matches(member, directory)))
        })
        .filter(|(_, text)| !takes_workspace_lints(text))
        .map(|(path, _)| Problem::at(path, 0, "no `[lints]` with `workspace = true`"))
        .collect()
}

/// The entries of `members = [...]`.
fn members(manifest: &str) -> Vec<&str> {
    manifest
        .split_once("\nmembers")
        .and_then(|(_, rest)| rest.split_once('['))
        .and_then(|(_, list)| list.split_once(']'))
        .map(|(list, _)| list.split('"').skip(1).step_by(2).collect())
        .unwrap_or_default()
}

/// Whether the directory is the member, or directly under it if it ends in `/*`.
fn matches(member: &str, directory: &str) -> bool {
    match member.strip_suffix("/*") {
        Some(parent) => directory.rsplit_once('/').is_some_and(|(up, _)| up == parent),
        None => member == directory,
    }
}

fn takes_workspace_lints(manifest: &str) -> bool {
    let mut in_lints = false;
    manifest.lines().map(str::trim).any(|line| {
        if line.starts_with('[') {
            in_lints = line == "[lints]";
        }
        let compact: String = line.chars().filter(|c| !c.is_whitespace()).collect();
        compact == "lints.workspace=true" || in_lints && compact == "workspace=true"
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems_with(member: &str, manifest: &str) -> usize {
        let root = "[workspace]\nmembers = [\"crates/*\", \"xtask\"]\nexclude = [\"shim\"]\n";
        check(&[
            ("Cargo.toml".to_string(), root.to_string()),
            (format!("{member}/Cargo.toml"), manifest.to_string()),
        ])
        .len()
    }

    const BARE: &str = "[package]\nname = \"x\"\n";

    #[test]
    fn members_without_the_lints_are_found() {
        assert_eq!(problems_with("crates/drowse", BARE), 1);
        assert_eq!(problems_with("xtask", BARE), 1);
        let elsewhere = format!("{BARE}\n[package.metadata]\nworkspace = true\n\n[lints]\n");
        assert_eq!(problems_with("xtask", &elsewhere), 1);
    }

    #[test]
    fn members_with_the_lints_pass() {
        assert_eq!(problems_with("xtask", &format!("{BARE}\n[lints]\nworkspace = true\n")), 0);
        assert_eq!(problems_with("xtask", &format!("lints.workspace = true\n{BARE}")), 0);
    }

    #[test]
    fn who_is_no_member_is_free() {
        assert_eq!(problems_with("shim", BARE), 0);
        assert_eq!(problems_with("crates/drowse/fuzz", BARE), 0);
    }

    #[test]
    fn a_root_without_members_is_a_problem() {
        assert_eq!(check(&[]).len(), 1);
    }
}
