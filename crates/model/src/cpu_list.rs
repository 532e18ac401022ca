//! Lists of CPUs as the kernel writes them: `0-3,8`.

/// Reads such a list; None if it is not one.
#[must_use]
pub fn parse(text: &str) -> Option<Vec<u32>> {
    let mut cpus: Vec<u32> = ranges(text)?.into_iter().flat_map(|(first, last)| first..=last).collect();
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

/// The same as it stands there, first and last CPU of each part: no longer than the text, whoever
/// wrote it.
#[must_use]
pub fn ranges(text: &str) -> Option<Vec<(u32, u32)>> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.trim().parse::<u32>().ok()?, last.trim().parse::<u32>().ok()?);
        (first <= last && last - first <= 65_536).then_some((first, last))
    };
    text.trim().split(',').filter(|part| !part.is_empty()).map(range).collect()
}

/// Writes such a list; `cpus` ascends.
#[must_use]
pub fn format(cpus: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for &cpu in cpus {
        match parts.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(cpu) => *last = cpu,
            _ => parts.push((cpu, cpu)),
        }
    }
    let text = |(first, last): (u32, u32)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    parts.into_iter().map(text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_round_trip() {
        for text in ["", "0", "0-1", "0,2-3,8", "5-7"] {
            assert_eq!(format(&parse(text).unwrap()), text);
        }
        assert_eq!(parse("3,1-2\n"), Some(vec![1, 2, 3]));
        assert_eq!(ranges("3,1-2\n"), Some(vec![(3, 3), (1, 2)]));
        for wrong in ["x", "1-", "3-1", "0-4000000000"] {
            assert_eq!(parse(wrong), None, "{wrong} passed");
        }
    }
}
