/// The program's version, by which nodes know each other.
enum ProgramVersion {
    static let text = "1.0.0"
}
