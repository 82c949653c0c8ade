//! Where entries are, by numbers that fit into a slot.

/// Things by number. A number is free again once its thing is gone.
#[derive(Debug)]
pub(super) struct Slab<T> {
    /// Boxed, so that growing moves no more than pointers.
    things: Vec<Option<Box<T>>>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub(super) const fn new() -> Self {
        Self {
            things: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Adds a thing. There are fewer than 2^32, since no more keys are allowed.
    pub(super) fn insert(&mut self, thing: T) -> u32 {
        let thing = Some(Box::new(thing));
        if let Some(number) = self.free.pop()
            && let Some(place) = self.things.get_mut(number as usize)
        {
            *place = thing;
            return number;
        }
        self.things.push(thing);
        (self.things.len() - 1) as u32
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.things.get_mut(number as usize)?.as_deref_mut()
    }

    pub(super) fn remove(&mut self, number: u32) -> Option<Box<T>> {
        let thing = self.things.get_mut(number as usize)?.take()?;
        self.free.push(number);
        Some(thing)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.things.iter().flatten().map(AsRef::as_ref)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_names_its_thing_until_it_is_removed_and_another_after_that() {
        let mut slab = Slab::new();
        let numbers = ["a", "b", "c"].map(|thing| slab.insert(thing));
        assert_eq!(numbers, [0, 1, 2]);
        assert_eq!(slab.remove(1).as_deref(), Some(&"b"));
        assert_eq!((slab.remove(1), slab.get_mut(1)), (None, None));
        assert_eq!(slab.insert("d"), 1);
        assert_eq!(slab.insert("e"), 3);
        assert_eq!(
            slab.iter().copied().collect::<Vec<_>>(),
            ["a", "d", "c", "e"]
        );
        assert_eq!(slab.get_mut(1), Some(&mut "d"));
    }
}
