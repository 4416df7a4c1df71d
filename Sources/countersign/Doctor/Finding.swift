import Foundation

/// One thing that is wrong with an installation, and its mend.
struct Finding: Equatable {
    /// What was looked at.
    enum Check: String, CaseIterable {
        case configuration, policies, gate, realm, urls, limits, senders
        case permissions, keys, certificate, authority
        case store, mode, schema, providers, clock, backup, nodes, housekeeping, disk
    }

    let check: Check
    /// What is wrong, without a full stop.
    let what: String
    /// What mends it, without a full stop.
    let mend: String

    /// The line for people.
    var line: String { "\(check.rawValue): \(what): \(mend)." }

    init(_ check: Check, _ what: String, _ mend: String) {
        (self.check, self.what, self.mend) = (check, what, mend)
    }

    /// A sentence that says both already: what is wrong, and behind a colon or a semicolon the mend.
    init(_ check: Check, sentence: String) {
        let text = sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
        // A path may have a colon, but none with a blank behind it.
        let ends = [": ", "; "].compactMap { text.range(of: $0) }.min { $0.lowerBound < $1.lowerBound }
        guard let end = ends else {
            self.init(check, text, "see `countersign serve`, which is refused for it")
            return
        }
        self.init(check, String(text[..<end.lowerBound]), String(text[end.upperBound...]))
    }
}
