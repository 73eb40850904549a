//! Every crate of a workspace takes the workspace's lints.

use super::Problem;

/// The manifests of the workspaces: ours, and the shim's.
const ROOTS: [&str; 2] = ["Cargo.toml", "shim/Cargo.toml"];

/// Problems with the members' manifests, found by each root's list of members.
pub(crate) fn check(files: &[(String, String)]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (root, text) in files.iter().filter(|(path, _)| ROOTS.contains(&path.as_str())) {
        let members = members(text);
        if members.is_empty() {
            problems.push(Problem::at(root, 0, "the workspace has no members"));
        }
        let place = root.trim_end_matches("Cargo.toml");
        let is_member = |path: &str| {
            path.strip_suffix("/Cargo.toml")
                .and_then(|directory| directory.strip_prefix(place))
                .is_some_and(|directory| members.iter().any(|member| matches(member, directory)))
        };
        let bare = files.iter().filter(|(path, text)| is_member(path) && !takes_workspace_lints(text));
        problems.extend(bare.map(|(path, _)| Problem::at(path, 0, "no `[lints]` with `workspace = true`")));
    }
    problems
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
        assert_eq!(problems_with("shim/app", BARE), 0, "of another workspace");
        assert_eq!(problems_with("crates/drowse/fuzz", BARE), 0);
    }

    #[test]
    fn a_root_without_members_is_a_problem() {
        assert_eq!(check(&[("Cargo.toml".to_string(), "[workspace]\n".to_string())]).len(), 1);
    }

    #[test]
    fn the_shim_is_a_workspace_too() {
        let files =
            [("shim/Cargo.toml", "[workspace]\nmembers = [\"app\"]\n"), ("shim/app/Cargo.toml", BARE)];
        let problems = check(&files.map(|(path, text)| (path.to_string(), text.to_string())));
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].path, "shim/app/Cargo.toml");
    }
}
