//! Labels that executions come by.

use super::{Engine, Failure, Phase, Site};
use crate::labels::Watch;

impl Engine {
    /// Notes the labels that executions come by, and stops at the one that is looked for.
    pub(crate) fn watching(self, watch: &Watch) -> Engine {
        Engine { watch: watch.clone(), ..self }
    }

    /// What `label` stands for holds here, or does not.
    pub(super) fn note_label(&self, label: &'static str, holds: bool, site: Site) {
        // What happens in a probe means nothing.
        if self.phase.get() != Phase::Running || self.explorer.with(|explorer| explorer.is_probing()) {
            return;
        }
        self.watch.note(label, holds);
        if holds && self.watch.goal.as_deref() == Some(label) {
            let message = format!("`{label}` is reached");
            self.stop(Failure::Other { code: "found", message, help: None, site: Some(site) });
        }
    }
}
