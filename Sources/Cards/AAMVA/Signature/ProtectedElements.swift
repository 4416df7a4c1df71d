import Domain
import Encoding

/// The elements that an issuer's signature can protect, with the signed bytes.
struct ProtectedElements: Sendable, Equatable, Confidential {
    /// The 22 mandatory elements of the card design standard of 2020, in the order of their ids. A credential has a bit
    /// for each, starting with the highest bit.
    static let all = [
        "DAC", "DAD", "DAG", "DAI", "DAJ", "DAK", "DAQ", "DAU", "DAY", "DBA", "DBB", "DBC", "DBD", "DCA", "DCB", "DCD",
        "DCF", "DCG", "DCS", "DDE", "DDF", "DDG",
    ].map { ElementID($0) }

    /// The values with their trailing blanks, which issuers sign too.
    private let values: [ElementID: [UInt8]]
    /// The ids that occur more than once.
    private let repeated: Set<ElementID>
    /// The ids of every edition that identify the holder or the document.
    private let identifying: Set<ElementID>

    init(_ elements: AAMVAElements, of bytes: [UInt8]) {
        var values: [ElementID: [UInt8]] = [:]
        var repeated: Set<ElementID> = []
        for element in elements.all {
            let blanks = bytes[element.value.upperBound...].prefix { $0 == UInt8(ascii: " ") }
            let value = Array(bytes[element.value] + blanks)
            if values.updateValue(value, forKey: element.id) != nil { repeated.insert(element.id) }
        }
        self.values = values
        self.repeated = repeated
        identifying = Set(values.keys.filter(Self.isIdentifying))
    }

    private static func isIdentifying(_ id: ElementID) -> Bool {
        switch id.property {
        case .name, .familyName, .givenName, .middleName, .dateOfBirth, .expiresOn, .documentNumber: true
        default: false
        }
    }

    /// The signed bytes; `nil` if a protected element is missing or occurs twice.
    func bytes(protectedBy bits: [UInt8]) -> [UInt8]? {
        var lines: [UInt8] = []
        for id in Self.ids(protectedBy: bits) {
            guard let value = values[id], !repeated.contains(id) else { return nil }
            lines += Array(id.text.utf8) + value + [UInt8(ascii: "\n")]
        }
        return lines
    }

    /// Whether a signature protects every element that identifies the holder or the document. Otherwise a forger may
    /// have added one, such as the whole name of the first edition, and the edition that prefers it.
    func areIdentified(protectedBy bits: [UInt8]) -> Bool {
        identifying.isSubset(of: Self.ids(protectedBy: bits))
    }

    private static func ids(protectedBy bits: [UInt8]) -> [ElementID] {
        all.enumerated().filter { place, _ in
            place / 8 < bits.count && bits[place / 8] & (0x80 >> (place % 8)) != 0
        }.map(\.element)
    }
}

extension AAMVACard {
    /// The issuer's signature after its verification by pinned keys.
    ///
    /// A signature without a pinned key stays `present`, and so does a signature that does not cover an element that
    /// identifies the holder. A credential that names a pinned key, but does not have its signature for this card, is
    /// `invalid`.
    func signature(verifiedBy keys: [BarcodeKey]) -> IssuerSignature {
        let found = identityCard.issuerSignature
        guard let bytes = found.credential, let elements = protectedElements, let credential = SignedCredential(bytes),
            let key = keys.first(where: { $0.verificationMethod.hasSameBytes(as: credential.verificationMethod) })
        else { return found }
        guard credential.verificationMethod.utf8.starts(with: (credential.issuer + "#").utf8),
            key.jurisdiction == identityCard.jurisdiction,
            let data = elements.bytes(protectedBy: credential.protectedElements),
            credential.isSigned(by: key.key, over: data)
        else { return IssuerSignature(.invalid, credential: bytes) }
        // A suffix is not a mandatory element, so it is never signed. It must be one of the known suffixes.
        let suffix = NameFolding.folded(identityCard.name.suffix ?? "")
        guard elements.areIdentified(protectedBy: credential.protectedElements),
            suffix.isEmpty || NameFolding.isSuffix(suffix)
        else { return found }
        return IssuerSignature(.verified, credential: bytes)
    }
}
