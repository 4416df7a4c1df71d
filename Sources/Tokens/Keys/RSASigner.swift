import COpenSSL
import CryptoExtras

/// An RSA key that signs with RS256 (RFC 7518 §3.3) through OpenSSL: swift-crypto's arithmetic takes more than twice as
/// long on processors with AVX-512 (Upstream.md).
package final class RSASigner: Sendable {
    /// OpenSSL's reference. Several threads may use a key at once, since nothing changes it (openssl-threads(7)). The
    /// compiler cannot check that.
    private struct Handle: @unchecked Sendable {
        /// A prepared signature without a message. Each signature is made from a copy of it, because OpenSSL looks up
        /// its algorithms whenever it prepares one.
        let begun: OpaquePointer
        /// The length of a signature, which is the length of the modulus, in bytes.
        let length: Int
    }

    private let handle: Handle

    /// `nil` if OpenSSL does not accept the key.
    package init?(_ key: _RSA.Signing.PrivateKey) {
        let bytes = Array(key.derRepresentation)
        let key = bytes.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return d2i_AutoPrivateKey(nil, &start, bytes.count)
        }
        defer { EVP_PKEY_free(key) }
        guard let key, let begun = EVP_MD_CTX_new() else { return nil }
        // The context keeps its own reference to the key.
        guard EVP_DigestSignInit(begun, nil, EVP_sha256(), nil, key) == 1 else {
            EVP_MD_CTX_free(begun)
            return nil
        }
        handle = Handle(begun: begun, length: Int(EVP_PKEY_get_size(key)))
    }

    deinit {
        EVP_MD_CTX_free(handle.begun)
    }
}

package extension RSASigner {
    struct Failure: Error {
        package init() {}
    }

    /// Signs a message. The signature is as long as the key's modulus.
    func signature(over message: [UInt8]) throws -> [UInt8] {
        guard let context = EVP_MD_CTX_new() else { throw Failure() }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_MD_CTX_copy_ex(context, handle.begun) == 1 else { throw Failure() }
        // No more bytes follow, so OpenSSL need not copy the context to finish.
        EVP_MD_CTX_set_flags(context, EVP_MD_CTX_FLAG_FINALISE)
        var (signature, length) = ([UInt8](repeating: 0, count: handle.length), handle.length)
        guard EVP_DigestSign(context, &signature, &length, message, message.count) == 1, length == signature.count
        else { throw Failure() }
        return signature
    }
}
