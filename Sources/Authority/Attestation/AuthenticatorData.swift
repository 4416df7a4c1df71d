import Crypto
import Domain
import Encoding

/// The authenticator data of WebAuthn §6.1, as App Attest fills it in attestations and assertions.
struct AuthenticatorData {
    private let bytes: ArraySlice<UInt8>
    let flags: UInt8
    let counter: UInt32
    /// The bytes after the counter.
    let rest: ArraySlice<UInt8>

    /// The flag that a credential follows (AT), and no other: nobody is asked for presence.
    static let attestedFlag: UInt8 = 0x40

    init?(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count >= 37, let flags = bytes.dropFirst(32).first else { return nil }
        self.bytes = bytes
        self.flags = flags
        counter = bytes.dropFirst(33).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        rest = bytes.dropFirst(37)
    }

    /// The SHA-256 that the key or its certificate signs.
    func nonce(_ digest: Digest256) -> SHA256Digest {
        var hash = SHA256()
        hash.update(data: Array(bytes))
        hash.update(data: digest.bytes)
        return hash.finalize()
    }

    /// Whether it was made by this app of Apple's platforms.
    func isOf(_ app: AttestedApp) -> Bool {
        guard case .apple(let name) = app else { return false }
        return SHA256.hash(data: Array(name.utf8)).elementsEqual(bytes.prefix(32))
    }
}

/// The credential in the authenticator data of an attestation (WebAuthn §6.5.1).
struct AttestedCredential {
    let isProduction: Bool
    let identifier: ArraySlice<UInt8>
    let key: PublicKey

    /// Takes all that follows the counter.
    init?(_ bytes: ArraySlice<UInt8>) {
        let environment = bytes.prefix(16)
        if environment.elementsEqual(Array("appattest".utf8) + [UInt8](repeating: 0, count: 7)) {
            isProduction = true
        } else if environment.elementsEqual(Array("appattestdevelop".utf8)) {
            isProduction = false
        } else {
            return nil
        }
        // The length of the identifier, which is a SHA-256.
        guard bytes.dropFirst(16).prefix(2).elementsEqual([0, 32]) else { return nil }
        identifier = bytes.dropFirst(18).prefix(32)
        guard identifier.count == 32, let value = try? CBORReader.read(bytes.dropFirst(50)),
            value[3] == .negative(6), let key = try? PublicKey(coseKey: value)
        else { return nil }
        self.key = key
    }
}
