import Crypto
import Domain
import Encoding

/// One element of a mobile document, whose digest the issuer signed (ISO/IEC 18013-5 §8.3.2.1.2.2).
struct IssuerSignedItem: Sendable, Confidential {
    let nameSpace: String
    let element: String
    let value: CBORValue
    let digestID: UInt64
    /// The whole item with its tag as received, over which the digest is made (§9.1.2.5).
    let received: ArraySlice<UInt8>
}

extension IssuerSignedItem {
    /// The least length of the random bytes that hide the value in its digest.
    private static let minimumRandom = 16

    init(_ item: CBORValue, in nameSpace: String) throws(PresentationDefect) {
        guard case .tagged(let tag) = item, let content = item.embedded, let digestID = content["digestID"]?.number,
            let random = content["random"]?.bytes, random.count >= Self.minimumRandom,
            let element = content["elementIdentifier"]?.text, let value = content["elementValue"]
        else { throw PresentationDefect(.malformed, "An element is not an IssuerSignedItem with tag 24.") }
        self.nameSpace = nameSpace
        self.element = element
        self.value = value
        self.digestID = digestID
        received = tag.received
    }

    /// The path by which a query names the element.
    var path: [String] { [nameSpace, element] }

    /// Parses the name spaces of a document. No element and no digest occurs twice in one of them.
    static func all(in nameSpaces: CBORValue?) throws(PresentationDefect) -> [IssuerSignedItem] {
        guard let nameSpaces else { return [] }
        guard case .map(let members) = nameSpaces else {
            throw PresentationDefect(.malformed, "The document's nameSpaces is not a map.")
        }
        var items: [IssuerSignedItem] = []
        for (key, list) in members {
            guard let nameSpace = key.text, let elements = list.elements else {
                throw PresentationDefect(.malformed, "A name space is not a text with an array of elements.")
            }
            var (names, digests): (Set<[UInt8]>, Set<UInt64>) = ([], [])
            for element in elements {
                let item = try IssuerSignedItem(element, in: nameSpace)
                guard names.insert(Array(item.element.utf8)).inserted, digests.insert(item.digestID).inserted else {
                    throw PresentationDefect(.malformed, "An element or a digest occurs twice in one name space.")
                }
                items.append(item)
            }
        }
        return items
    }
}

/// The algorithms of digests in a mobile document (ISO/IEC 18013-5 §9.1.2.5).
enum DigestAlgorithm: String, Sendable, CaseIterable {
    case sha256 = "SHA-256"
    case sha384 = "SHA-384"
    case sha512 = "SHA-512"

    func digest(of bytes: ArraySlice<UInt8>) -> [UInt8] {
        switch self {
        case .sha256: Array(SHA256.hash(data: bytes))
        case .sha384: Array(SHA384.hash(data: bytes))
        case .sha512: Array(SHA512.hash(data: bytes))
        }
    }
}
