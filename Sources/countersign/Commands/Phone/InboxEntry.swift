import Domain
import Encoding
import Foundation
import PhoneNumbers

/// One line of the file of texts.
struct InboxEntry {
    /// The offset of its line in the file.
    let offset: UInt64
    let at: String
    let to: String
    /// The text, or the cause for withholding it.
    let content: Content

    enum Content: Equatable {
        case text(String)
        case withheld(String)
    }

    init?(_ line: TextLine) {
        guard let value = try? StrictJSON.parse(line.bytes), let to = value["to"]?.text else { return nil }
        self.to = to
        offset = line.offset
        at = (value["sent_at"] ?? value["at"])?.text ?? "-"
        if let text = value["text"]?.text {
            content = .text(text)
        } else if let cause = value["withheld"]?.text {
            content = .withheld(cause)
        } else {
            return nil
        }
    }

    /// One row without names: time, number and text.
    var report: Report {
        let (content, shown): ([Entry], String) =
            switch content {
            // A text may have several lines, for autofill.
            case .text(let text):
                ([.json("text", text)], text.split(separator: "\n").joined(separator: " "))
            case .withheld(let cause):
                (
                    [.json("withheld", cause), .json("mend", Self.mend(cause, to: to))],
                    "NO TEXT (\(cause)): \(Self.mend(cause, to: to))"
                )
            }
        return Report(
            row: [at, to, shown],
            json: [.json("id", Int64(clamping: offset)), .json("at", at), .json("to", to)] + content)
    }

    /// What to check if a text to a number was withheld for this cause.
    static func mend(_ cause: String, to number: String) -> String {
        guard let reason = SendGuard.WithheldReason(rawValue: cause) else {
            return
                "its verification is still open, and no other text was due: use the code of its text, or resend it. If "
                + "that text was withheld, an earlier line has the cause."
        }
        return switch reason {
        case .country:
            PhoneNumber(canonical: number)?.region == "001"
                ? "it is a number of no country, such as a satellite telephone. Verify a number of a country."
                : "its country is not among `countries` in phones.yaml."
        case .type: "its kind of number is among `refused_types` in phones.yaml."
        case .frozen: "the user gave too many wrong codes for it: see `freeze` in phones.yaml."
        case .numberLimit: "the number's own limits are reached: see `sends_per_hour_per_number` in phones.yaml."
        case .prefixLimit: "its block of numbers got too many texts without a correct code: see phones.yaml."
        case .groupLimit: "new accounts of its network got too many texts without a correct code: see phones.yaml."
        case .prefixThinned, .providerThinned, .countryThinned:
            "texts are limited: see `countersign texts list`."
        case .spendCeiling: "the day's spending is used up: see `spend_per_day` in phones.yaml."
        }
    }
}
