use std::fs;

/// The memory that this process holds, in bytes; `None` where the system does not tell.
pub(super) fn resident_bytes() -> Option<u64> {
    read_status(&fs::read_to_string("/proc/self/status").ok()?)
}

/// Of Linux: a line `VmRSS:     1234 kB`.
fn read_status(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read() {
        assert_eq!(read_status("Name:\tproem\nVmRSS:\t    1234 kB\n"), Some(1_263_616));
        for odd in ["", "VmRSS:\t12 MB", "VmRSS: kB", "VmRSS: 18446744073709551615 kB"] {
            assert_eq!(read_status(odd), None, "{odd}");
        }
        #[cfg(target_os = "linux")]
        assert!(resident_bytes().is_some_and(|bytes| bytes > 100_000));
    }
}
