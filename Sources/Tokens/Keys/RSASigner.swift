import COpenSSL
import CryptoExtras

/// An RSA key that signs by RS256 (RFC 7518 §3.3), with OpenSSL's arithmetic: swift-crypto's takes more than twice as
/// long on processors with AVX-512.
package final class RSASigner: Sendable {
    package struct Failure: Error {
        package init() {}
    }

    /// OpenSSL's reference. Threads may use one key at once, since nothing changes it (openssl-threads(7)); the compiler
    /// cannot check that.
    private struct Handle: @unchecked Sendable {
        let key: OpaquePointer
    }

    private let handle: Handle

    /// `nil` if OpenSSL does not take the key.
    package init?(_ key: _RSA.Signing.PrivateKey) {
        let bytes = Array(key.derRepresentation)
        let handle = bytes.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return d2i_AutoPrivateKey(nil, &start, bytes.count)
        }
        guard let handle else { return nil }
        self.handle = Handle(key: handle)
    }

    deinit {
        EVP_PKEY_free(handle.key)
    }

    /// The signature over a message, as long as the key's modulus.
    package func signature(over message: [UInt8]) throws -> [UInt8] {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var length = 0
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, handle.key) == 1,
            EVP_DigestSign(context, nil, &length, message, message.count) == 1
        else { throw Failure() }
        var signature = [UInt8](repeating: 0, count: length)
        guard EVP_DigestSign(context, &signature, &length, message, message.count) == 1, length == signature.count
        else { throw Failure() }
        return signature
    }
}
