import CBuild

/// The program's version, as shown in heartbeats and by `--version`.
enum ProgramVersion {
    static let release = "1.0.0"

    /// The commit that was built. A build from an archive does not know it.
    static let commit: String = {
        let named = String(cString: countersign_commit())
        return named.isEmpty ? "unknown commit" : named
    }()

    /// The release with the commit.
    static let text = "\(release) (\(commit))"
}
