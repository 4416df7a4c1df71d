public extension PublicKey {
    /// Takes the public half of an elliptic curve key (`COSE_Key`, RFC 9052 §7, RFC 9053 §7.1.1; P-256 and P-384).
    init(coseKey value: CBORValue) throws(PublicKeyDefect) {
        guard case .map(let members) = value else {
            throw PublicKeyDefect(.malformed, "The COSE key is not a map.")
        }
        guard members[Label.d] == nil else { throw PublicKeyDefect.leaked }
        guard members[Label.keyType]?.number == 2, let curve = members[Label.curve]?.number,
            let size = [1: 32, 2: 48][curve]
        else {
            throw PublicKeyDefect(.unsupportedKey, "The COSE key's type is not supported. Use P-256 or P-384.")
        }
        guard let x = members[Label.x]?.bytes, let y = members[Label.y]?.bytes, x.count == size, y.count == size else {
            throw PublicKeyDefect(.malformed, "The COSE key's x and y must have \(size) bytes each.")
        }
        let point = [4] + x + y
        try self.init(curve == 1 ? .p256(point: point) : .p384(point: point))
    }

    /// The key as a `COSE_Key`; `nil` for RSA and Ed25519.
    var coseKey: CBORValue? {
        let (curve, point): (UInt64, [UInt8])
        switch numbers {
        case .p256(let bytes): (curve, point) = (1, bytes)
        case .p384(let bytes): (curve, point) = (2, bytes)
        case .rsa, .ed25519: return nil
        }
        let size = point.count / 2
        return .map([
            Label.keyType: .unsigned(2), Label.curve: .unsigned(curve), Label.x: .bytes(point.dropFirst().prefix(size)),
            Label.y: .bytes(point.suffix(size)),
        ])
    }

    private enum Label {
        static let keyType: CBORKey = 1
        static let curve: CBORKey = -1
        static let x: CBORKey = -2
        static let y: CBORKey = -3
        static let d: CBORKey = -4
    }
}
