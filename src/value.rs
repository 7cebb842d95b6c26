//! How the values of objects are shown: as the type would, and never an address.

/// Names for pointers, in the order in which they are met.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pointers: Vec<u64>,
}

impl Names {
    /// `value` as an object of type `family` shows it.
    pub(crate) fn show(&mut self, family: &str, value: u64) -> String {
        match family {
            "AtomicBool" => (value != 0).to_string(),
            "AtomicI8" => (value as i8).to_string(),
            "AtomicI16" => (value as i16).to_string(),
            "AtomicI32" => (value as i32).to_string(),
            "AtomicI64" | "AtomicIsize" => (value as i64).to_string(),
            "AtomicPtr" => self.pointer(value),
            _ => self.number(value),
        }
    }

    fn pointer(&mut self, value: u64) -> String {
        if value == 0 {
            return "null".to_owned();
        }
        let known = self.pointers.iter().position(|p| *p == value);
        let index = known.unwrap_or_else(|| {
            self.pointers.push(value);
            self.pointers.len() - 1
        });
        format!("ptr#{}", index + 1)
    }

    /// Words that are addresses in disguise differ from run to run, and reports must not.
    fn number(&mut self, value: u64) -> String {
        const USER_SPACE: std::ops::Range<u64> = 1 << 40..1 << 47;
        if cfg!(target_pointer_width = "64") && USER_SPACE.contains(&value) {
            self.pointer(value)
        } else {
            value.to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_look_as_their_type_shows_them() {
        let mut names = Names::default();
        assert_eq!(names.show("AtomicBool", 1), "true");
        assert_eq!(names.show("AtomicI32", u64::from(u32::MAX)), "-1");
        assert_eq!(names.show("AtomicU8", 200), "200");
        assert_eq!(names.show("AtomicPtr", 0), "null");
        assert_eq!(names.show("AtomicPtr", 0x1234_5678), "ptr#1");
        assert_eq!(names.show("AtomicPtr", 0x1234_5679), "ptr#2");
        assert_eq!(names.show("AtomicPtr", 0x1234_5678), "ptr#1");
    }
}
