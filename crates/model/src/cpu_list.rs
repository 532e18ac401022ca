//! Lists of CPUs as the kernel writes them: `0-3,8`.

/// Reads such a list; None if it is not one.
#[must_use]
pub fn parse(text: &str) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.trim().parse::<u32>().ok()?, last.trim().parse::<u32>().ok()?);
        if last < first || last - first > 65_536 {
            return None;
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
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
        for wrong in ["x", "1-", "3-1", "0-4000000000"] {
            assert_eq!(parse(wrong), None, "{wrong} passed");
        }
    }
}
