import Encoding

/// A response of Amazon SNS to `Publish`: XML of a fixed shape (AWS query protocol; Amazon SNS API Reference,
/// "Publish" and "Common Error Types").
///
/// Only three elements matter, and each must occur once, so no XML parser is needed. A document with declarations,
/// comments or CDATA sections is refused.
enum SNSResponse: Equatable {
    /// SNS accepted the message under this id.
    case messageID(String)
    /// Not accepted. The code is a word of ASCII letters, digits and dots. The message is prose and may contain
    /// personal data.
    case failure(code: String, message: String)

    /// Parses a response; `nil` if it has another shape.
    init?(_ body: [UInt8]) {
        guard let text = String(validating: body, as: UTF8.self), text.isStreamSafe, !text.contains("<!") else {
            return nil
        }
        var document = text[...].drop(while: \.isWhitespace)
        if document.hasPrefix("<?xml ") {
            guard let end = document.firstRange(of: "?>") else { return nil }
            document = document[end.upperBound...].drop(while: \.isWhitespace)
        }
        if let content = Self.root("PublishResponse", of: document) {
            guard let id = Self.element("MessageId", in: content), Self.isWord(id) else { return nil }
            self = .messageID(id)
        } else if let content = Self.root("ErrorResponse", of: document) {
            guard let code = Self.element("Code", in: content), Self.isWord(code) else { return nil }
            self = .failure(code: code, message: Self.element("Message", in: content) ?? "")
        } else {
            return nil
        }
    }

    /// The content of the one outermost element.
    private static func root(_ name: String, of document: Substring) -> Substring? {
        let start = "<\(name)"
        guard document.hasPrefix(start), let end = document.firstIndex(of: ">"),
            let next = document.dropFirst(start.count).first, next == ">" || next.isWhitespace,
            let close = document.firstRange(of: "</\(name)>"),
            document[close.upperBound...].allSatisfy(\.isWhitespace)
        else { return nil }
        let content = document.index(after: end)
        return content <= close.lowerBound ? document[content..<close.lowerBound] : nil
    }

    /// The text of an element that occurs exactly once and contains only text.
    private static func element(_ name: String, in content: Substring) -> String? {
        let starts = content.ranges(of: "<\(name)>")
        guard starts.count == 1, let start = starts.first?.upperBound else { return nil }
        let text = content[start...].prefix { $0 != "<" }
        return content[text.endIndex...].hasPrefix("</\(name)>") ? String(text) : nil
    }

    private static func isWord(_ text: String) -> Bool {
        (1...100).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}
