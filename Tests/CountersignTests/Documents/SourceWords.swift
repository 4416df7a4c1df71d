import Fixtures
import Foundation

/// The words that the sources can put into an answer, found by reading them.
///
/// Read are: the arguments `reason:` and `state:` of every `Refusal(…)`, if they are literals or name a constant; the
/// first argument of `Refusal.csr("…", …)`; and the raw values of the enumerations that ``values(of:in:)`` is asked for.
struct SourceWords {
    private let files: [SourceFile]

    init() throws { files = try SourceFile.all(below: "Sources") }

    /// The raw values of an enumeration of strings, without those of enumerations inside it; empty if there is none.
    ///
    /// - Parameter file: the name of its file, since several are called `State`.
    func values(of name: String, in file: String) throws -> Set<String> {
        let head = try Regex("enum \(name): [^{]*String[^{]*\\{")
        // Another target may have a file of the same name.
        guard let text = files.first(where: { $0.name == file && $0.text.contains(head) })?.text,
            let start = text.firstMatch(of: head)
        else { return [] }
        var depth = 1
        var found: Set<String> = []
        for line in text[start.range.upperBound...].split(separator: "\n") {
            if depth == 1, let cases = line.firstMatch(of: /^\s*case ([a-z`].*)$/) {
                for item in cases.1.split(separator: ",") {
                    let parts = item.split(separator: "=").map { $0.trimmingCharacters(in: ["`", "\"", " "]) }
                    if let value = parts.last { found.insert(value) }
                }
            }
            depth += line.count { $0 == "{" } - line.count { $0 == "}" }
            if depth <= 0 { break }
        }
        return found
    }

    /// What `Refusal(…)` is given as `reason` or `state`.
    func arguments(_ label: String) throws -> Set<String> {
        var found: Set<String> = []
        // An expression takes long to pass over files that do not have the word.
        for file in files where file.text.contains("Refusal(") || file.text.contains("Refusal.csr(") {
            for call in file.text.matches(of: /\bRefusal(\.csr)?\(/) {
                let arguments = Self.arguments(file.text[call.range.upperBound...])
                if call.1 != nil, label == "reason", let word = arguments.firstMatch(of: /^\s*"([a-z_]+)"/) {
                    found.insert(String(word.1))
                }
                guard let label = arguments.range(of: "\(label): ") else { continue }
                let value = arguments[label.upperBound...]
                if let literal = value.prefixMatch(of: /"([A-Za-z_]+)"/) {
                    found.insert(String(literal.1))
                } else if let constant = value.prefixMatch(of: /[A-Za-z]+\b(?![.(])/) {
                    found.formUnion(try literal(of: constant.output))
                }
            }
        }
        return found
    }

    /// The text of a call's arguments, up to the parenthesis that ends them.
    private static func arguments(_ text: Substring) -> Substring {
        var depth = 1
        return text.prefix { character in
            depth += character == "(" ? 1 : character == ")" ? -1 : 0
            return depth > 0
        }
    }

    private func literal(of constant: Substring) throws -> Set<String> {
        let declaration = try Regex("static let \(constant) = \"([a-z_]+)\"", as: (Substring, Substring).self)
        return Set(
            files.filter { $0.text.contains("static let \(constant) = ") }
                .compactMap { $0.text.firstMatch(of: declaration).map { String($0.1) } })
    }
}
