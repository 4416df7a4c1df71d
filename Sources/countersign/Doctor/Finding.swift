import Foundation

/// One problem of an installation and its remedy.
struct Finding: Equatable {
    /// The subject of a check.
    enum Check: String, CaseIterable {
        case configuration, policies, gate, attestations, realm, urls, limits, senders
        case permissions, keys, certificate, authority, issuers
        case store, mode, schema, providers, clock, backup, nodes, housekeeping, disk
        case referenceData = "reference_data"
    }

    let check: Check
    /// The problem, without a full stop.
    let what: String
    /// The remedy, without a full stop.
    let mend: String

    var line: String { "\(check.rawValue): \(what): \(mend)." }

    init(_ check: Check, _ what: String, _ mend: String) {
        (self.check, self.what, self.mend) = (check, what, mend)
    }

    /// Splits a sentence into the problem and the remedy, at its first colon or semicolon. A sentence without one says
    /// what the value must be, so the remedy is to correct it.
    init(_ check: Check, sentence: String) {
        let text = sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
        // A path may contain a colon, but not followed by a space.
        let ends = [": ", "; "].compactMap { text.range(of: $0) }.min { $0.lowerBound < $1.lowerBound }
        guard let end = ends else {
            self.init(check, text, "correct it")
            return
        }
        self.init(check, String(text[..<end.lowerBound]), String(text[end.upperBound...]))
    }
}
