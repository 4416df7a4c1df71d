import Encoding

/// The numbers that replace texts in the credentials of one entry of the CBOR-LD registry. A credential names its
/// entry, and its contexts give further numbers to their terms.
package struct CompressionTable: Sendable {
    /// The numbers of the contexts, in the order in which a credential lists them.
    let contexts: [CBORValue]
    /// The number that replaces `ecdsa-xi-2023`.
    let cryptosuite: UInt64
    /// The terms of the last context, if it is the issuer's own. They are numbered after those of the others.
    let terms: [String]
    /// The URLs with the numbers from 1 on. A byte string replaces a URL, so that it differs from a term.
    let urls: [String]

    package init(contexts: [UInt64], cryptosuite: UInt64, terms: [String] = [], urls: [String] = []) {
        self.contexts = contexts.map { .unsigned($0) }
        self.cryptosuite = cryptosuite
        self.terms = terms
        self.urls = urls
    }

    /// The tables of issuers that sign barcodes.
    static let known: [UInt64: CompressionTable] = [31_000_000: california]

    /// Entry 31000000 of the registry, "California DMV Physical Identification Documents".
    private static let california = CompressionTable(
        contexts: [1, 2], cryptosuite: 1,
        urls: [californian]
            + lists("", 1...3) + (1...15).map { "\(californian)#vm-vcb-\($0)" }
            + ["did:web:uat-credentials.dmv.ca.gov"] + lists("uat-", 1...1)
            + (1...5).map { "did:web:uat-credentials.dmv.ca.gov#vm-vcb-\($0)" } + lists("uat-", 2...3))

    private static let californian = "did:web:credentials.dmv.ca.gov"

    private static func lists(_ kind: String, _ numbers: ClosedRange<Int>) -> [String] {
        numbers.map { "https://api.\(kind)credentials.dmv.ca.gov/status/dlid/\($0)/status-lists" }
    }

    /// The URL that a value replaces; `nil` if the table does not have it.
    func url(_ value: CBORValue?) -> String? {
        let list: [String]
        let place: UInt64
        switch value {
        case .unsigned(let term)?:
            guard term >= Terms.own, term.isMultiple(of: 2) else { return nil }
            (list, place) = (terms, (term - Terms.own) / 2)
        case .bytes(let bytes)?:
            guard bytes.count == 1, let number = bytes.first, number > 0 else { return nil }
            (list, place) = (urls, UInt64(number) - 1)
        default: return nil
        }
        guard let place = Int(exactly: place), list.indices.contains(place) else { return nil }
        return list[place]
    }
}

/// The numbers of the terms of an `OpticalBarcodeCredential`. Terms get even numbers from 100 on, in the order in which
/// contexts come into force. So an issuer's own context and a status move the numbers of the terms after them. A list
/// of values has its term's number plus 1.
struct Terms {
    static let contexts: CBORKey = 1
    static let types: CBORKey = 157
    static let type: CBORKey = 156
    static let proofType: UInt64 = 108
    static let credentialType: UInt64 = 118
    static let barcodeType: UInt64 = 164
    static let subjectType: UInt64 = 160
    static let statusType: UInt64 = 166
    static let protectedComponentIndex: CBORKey = 168
    /// The first term of an issuer's own context.
    static let own: UInt64 = 170

    /// The first number for the terms of a credential's own members.
    private let members: Int64
    /// The first number for the terms of a proof.
    private let proofs: Int64

    init(of table: CompressionTable, hasStatus: Bool) {
        members = Int64(Self.own) + 2 * Int64(table.terms.count)
        proofs = members + (hasStatus ? 30 : 26)
    }

    var status: CBORKey { CBORKey(integerLiteral: members + 4) }
    var subject: CBORKey { CBORKey(integerLiteral: members + 6) }
    var issuer: CBORKey { CBORKey(integerLiteral: members + 10) }
    var proof: CBORKey { CBORKey(integerLiteral: members + 12) }
    var statusBase: CBORKey { CBORKey(integerLiteral: members + 26) }
    var statusIndex: CBORKey { CBORKey(integerLiteral: members + 28) }
    var cryptosuite: CBORKey { CBORKey(integerLiteral: proofs + 4) }
    var proofPurpose: CBORKey { CBORKey(integerLiteral: proofs + 14) }
    var proofValue: CBORKey { CBORKey(integerLiteral: proofs + 16) }
    var verificationMethod: CBORKey { CBORKey(integerLiteral: proofs + 18) }
    var assertionMethod: UInt64 { UInt64(clamping: proofs + 20) }
}
