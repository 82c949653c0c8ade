//! What the rules look at: every text file, and what cargo says about the packages.

use anyhow::Result;

use crate::metadata::Metadata;
use crate::workspace;

pub(super) struct House {
    pub(super) metadata: Metadata,
    pub(super) files: Vec<File>,
    /// Every package that any of ours builds on, with its licence.
    pub(super) licences: Vec<(String, String)>,
}

pub(super) struct File {
    /// Relative to the root, with forward slashes.
    pub(super) path: String,
    pub(super) text: String,
}

impl House {
    pub(super) fn load() -> Result<Self> {
        let mut files = Vec::new();
        for path in workspace::files_below(workspace::root())? {
            // What is not text has nothing to say here; what vanished meanwhile neither.
            if let Ok(text) = std::fs::read_to_string(&path) {
                files.push(File {
                    path: workspace::shown(&path),
                    text,
                });
            }
        }
        let licences = Metadata::load_with_dependencies()?.packages.into_iter();
        let licences = licences.map(|one| (one.name, one.license.unwrap_or_default()));
        Ok(Self {
            metadata: Metadata::load()?,
            files,
            licences: licences.collect(),
        })
    }

    pub(super) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Files whose names end so.
    pub(super) fn ending(&self, end: &str) -> impl Iterator<Item = &File> {
        self.files
            .iter()
            .filter(move |file| file.path.ends_with(end))
    }

    /// A made-up house for a rule's own tests.
    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| File {
            path: (*path).to_owned(),
            text: (*text).to_owned(),
        });
        Self {
            metadata: Metadata {
                packages: Vec::new(),
            },
            files: files.collect(),
            licences: Vec::new(),
        }
    }
}

impl File {
    /// Lines with their numbers.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line))
    }

    /// The directory it is in, `""` at the root.
    pub(super) fn directory(&self) -> &str {
        self.path
            .rsplit_once('/')
            .map_or("", |(directory, _)| directory)
    }
}
