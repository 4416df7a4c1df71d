/// The program's version, as shown in heartbeats and by `--version`.
enum ProgramVersion {
    static let text = "1.0.0"
}
