import Domain
import Encoding
import Foundation

/// A list of issuers' authorities that another organization checked (VICAL, ISO/IEC 18013-5 Annex C), with a verified
/// signature.
package struct TrustList: Sendable {
    private let content: Content

    private struct Content: Sendable {
        let provider: String
        let date: Date
        let nextUpdate: Date?
        let anchors: [IssuerTrust.Anchor]
        let unusable: Int
    }
}

package extension TrustList {
    /// The longest list that is read, bytes.
    static let maximumLength = 2 << 20
    /// How far clocks may differ, seconds.
    private static let clockSkew: TimeInterval = 60
    /// For how long a list is used that does not say when its provider makes another, seconds.
    private static let usualLife: TimeInterval = 86_400

    /// Why a list cannot be used, as a sentence.
    enum Defect: String, Error, Sendable, CaseIterable {
        case length = "The list is longer than 2 MiB."
        case form = "The list is not signed by COSE_Sign1 with its content in it."
        case signer =
            "The list's first certificate is not that of a signer of lists, 1.0.18013.5.1.8, on P-256 or P-384."
        case certificate =
            "A certificate of the list's signer is not X.509 version 3 in DER, or there are more than four."
        case validity = "A certificate of the list's signer, or the trusted root, is not valid now."
        case root = "The certificates of the list's signer do not lead to a trusted root."
        case signature = "The signature of the list does not verify."
        case version = "The content of the list is not CBOR with version 1.0."
        case members = "The list has no vicalProvider, no date with tag 0, or no certificateInfos."
        case date = "The date of the list is in the future."
        case nextUpdate = "The nextUpdate of the list is not a UTC time with tag 0."
        case empty = "The list has no certificate that can be trusted here."
    }

    /// Verifies a list and reads it.
    ///
    /// - Parameter roots: the roots of its signer's certificate.
    init(_ bytes: [UInt8], rootedIn roots: Roots, now: Date) throws(Defect) {
        guard bytes.count <= Self.maximumLength else { throw .length }
        guard let value = try? CBORReader.read(bytes[...], upTo: Self.maximumLength),
            let message = try? COSESignature(value), let payload = message.payload,
            let chain = try? message.certificates
        else { throw .form }
        let key = try roots.key(of: chain, now: now)
        guard message.isValid(by: key, over: payload) else { throw .signature }
        guard let content = try? CBORReader.read(payload, upTo: Self.maximumLength), content["version"]?.text == "1.0"
        else { throw .version }
        self.content = try Self.content(content, now: now)
    }

    /// The organization that signed it.
    var provider: String { content.provider }
    /// When it was made. A list never replaces a later one.
    var date: Date { content.date }
    /// When its provider will have made another; `nil` if it says nothing.
    var nextUpdate: Date? { content.nextUpdate }
    /// The issuers' authorities in it, each limited to the types that the list names.
    var anchors: [IssuerTrust.Anchor] { content.anchors }
    /// The number of its certificates that cannot be trusted here, such as those for other curves.
    var unusable: Int { content.unusable }

    /// Until when a list is used.
    ///
    /// - Parameters:
    ///   - date: when it was made.
    ///   - grace: for how long it is used after its provider should have made another, seconds.
    static func end(date: Date, nextUpdate: Date?, grace: TimeInterval) -> Date {
        (nextUpdate ?? date + usualLife) + grace
    }

    private static func content(_ map: CBORValue, now: Date) throws(Defect) -> Content {
        guard let provider = map["vicalProvider"]?.text, let date = time(map["date"]),
            let entries = map["certificateInfos"]?.elements
        else { throw .members }
        guard date <= now + clockSkew else { throw .date }
        let nextUpdate = time(map["nextUpdate"])
        guard nextUpdate != nil || map["nextUpdate"] == nil else { throw .nextUpdate }
        let anchors = entries.compactMap(anchor)
        guard !anchors.isEmpty else { throw .empty }
        return Content(
            provider: provider, date: date, nextUpdate: nextUpdate, anchors: anchors,
            unusable: entries.count - anchors.count)
    }

    private static func time(_ value: CBORValue?) -> Date? {
        guard case .tagged(let tag)? = value, tag.number == 0 else { return nil }
        return tag.value.text.flatMap { Date(rfc3339: $0) }
    }

    /// An entry's certificate. The entry's other members repeat what is in it.
    private static func anchor(_ entry: CBORValue) -> IssuerTrust.Anchor? {
        guard let certificate = entry["certificate"]?.bytes, certificate.count <= IssuerProfile.maximumLength,
            let types = entry["docType"]?.elements
        else { return nil }
        let names = types.compactMap(\.text)
        guard names.count == types.count, !names.isEmpty else { return nil }
        return try? IssuerTrust.Anchor(Array(certificate), types: Set(names))
    }
}
