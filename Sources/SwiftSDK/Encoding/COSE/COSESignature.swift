import Crypto

/// A signed message with one signer (`COSE_Sign1`, RFC 9052 §4.2), parsed but not verified.
public struct COSESignature: Sendable, Equatable {
    /// The algorithm, from the protected header.
    public let algorithm: COSEAlgorithm
    /// The signed message; `nil` if it is detached, so that the recipient must know it.
    public let payload: ArraySlice<UInt8>?
    /// The two numbers of an ECDSA signature, one after the other.
    public let signature: ArraySlice<UInt8>
    /// The protected header as it was received. Signatures are made over these bytes, whatever the order of their keys.
    let protectedBytes: ArraySlice<UInt8>
    private let protected: CBORValue
    private let unprotected: CBORValue
}

/// Why a value is not a signed message that can be verified.
public enum COSEDefect: String, Error, Sendable, CaseIterable {
    case shape = "It is not an array of protected header, header, payload and signature."
    case header = "Its protected header is not a byte string with one map of CBOR."
    case repeatedLabel = "A label is in both headers."
    case critical = "Its header has crit, which is not supported."
    case algorithm = "The algorithm in its protected header is missing, or is not ES256, ES384, ESP256 or ESP384."
    case certificates = "Its x5chain is not a certificate or an array of certificates."
}

/// The algorithms of signatures (RFC 9053 §2.1, RFC 9864 §2.1), each for one curve.
public enum COSEAlgorithm: Sendable, CaseIterable {
    /// ECDSA on P-256 with SHA-256: ES256 (-7) or ESP256 (-9).
    case es256
    /// ECDSA on P-384 with SHA-384: ES384 (-35) or ESP384 (-51).
    case es384

    init?(_ value: CBORValue?) {
        switch value {
        case .negative(6), .negative(8): self = .es256
        case .negative(34), .negative(50): self = .es384
        default: return nil
        }
    }
}

/// The labels of header parameters (RFC 9052 §3.1, RFC 9360 §2).
private enum COSELabel {
    static let algorithm: CBORKey = 1
    static let critical: CBORKey = 2
    static let certificates: CBORKey = 33
}

public extension COSESignature {
    /// Parses a message, with or without its tag.
    init(_ value: CBORValue) throws(COSEDefect) {
        var message = value
        if case .tagged(let tag) = value, tag.number == 18 { message = tag.value }
        guard let parts = message.elements, parts.count == 4, let protectedBytes = parts[0].bytes,
            case .map(let free) = parts[1], let signature = parts[3].bytes
        else { throw .shape }
        switch parts[2] {
        case .bytes(let bytes): payload = bytes
        case .null: payload = nil
        default: throw .shape
        }
        guard let protected = try? CBORReader.read(protectedBytes), case .map(let bound) = protected else {
            throw .header
        }
        guard bound.keys.allSatisfy({ free[$0] == nil }) else { throw .repeatedLabel }
        guard bound[COSELabel.critical] == nil, free[COSELabel.critical] == nil else { throw .critical }
        guard let algorithm = COSEAlgorithm(bound[COSELabel.algorithm]) else { throw .algorithm }
        self.algorithm = algorithm
        self.protectedBytes = protectedBytes
        self.protected = protected
        unprotected = parts[1]
        self.signature = signature
    }

    /// A parameter of the protected header.
    subscript(_ label: CBORKey) -> CBORValue? { protected[label] }

    /// The certificates of `x5chain` (RFC 9360 §2) in DER, the signer's first; empty if there are none.
    var certificates: [[UInt8]] {
        get throws(COSEDefect) {
            switch protected[COSELabel.certificates] ?? unprotected[COSELabel.certificates] {
            case nil: return []
            case .bytes(let certificate): return [Array(certificate)]
            case .array(let elements):
                let certificates = elements.compactMap(\.bytes)
                guard certificates.count == elements.count, !certificates.isEmpty else { throw .certificates }
                return certificates.map { Array($0) }
            default: throw .certificates
            }
        }
    }

    /// The signed bytes (`Sig_structure`, RFC 9052 §4.4).
    func signedBytes(over payload: some Collection<UInt8>) -> [UInt8] {
        CBORValue.array([
            .text("Signature1"), .bytes(protectedBytes), .bytes([]), .bytes(ArraySlice(payload)),
        ]).encoded
    }

    /// Whether a key signed a payload: the message's own, or the one that it is detached from.
    func isValid(by key: PublicKey, over payload: some Collection<UInt8>) -> Bool {
        let signed = signedBytes(over: payload)
        switch (algorithm, key.key) {
        case (.es256, .p256(let key)):
            guard signature.count == 64,
                let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
            else { return false }
            return key.isValidSignature(signature, for: signed)
        case (.es384, .p384(let key)):
            guard signature.count == 96,
                let signature = try? P384.Signing.ECDSASignature(rawRepresentation: signature)
            else { return false }
            return key.isValidSignature(signature, for: signed)
        default: return false
        }
    }
}
