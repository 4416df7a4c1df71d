import COpenSSL
import Domain
import Foundation
import SwiftASN1
import Synchronization
import X509

/// A private key in a hardware security module, used through OpenSSL's `pkcs11` engine (libp11). It never leaves the
/// module; only the bytes to be signed are sent there.
///
/// The engine and the module's sessions belong to one process and do not support concurrent use, so one lock guards
/// loading and signing. A module makes a few hundred signatures a second at best, so the lock is not the limit.
final class HardwareKey: Sendable {
    /// The public half, as read from the token.
    let publicKey: Certificate.PublicKey
    private let handle: Handle

    private static let module = Mutex(())

    /// OpenSSL's references. They are used only while ``module`` is locked, which the compiler cannot check.
    private struct Handle: @unchecked Sendable {
        let engine: OpaquePointer
        let key: OpaquePointer
    }

    /// Finds a key by its URI and logs in to its token.
    ///
    /// - Throws: ``AuthorityError/module(_:)`` with OpenSSL's reason; the PIN is in no error.
    init(_ uri: PKCS11URI, pin: Secret<String>?) throws(AuthorityError) {
        let pin = (pin ?? uri.pin)?.reveal()
        guard pin?.utf8.contains(0) != true else { throw .malformedURI("the PIN contains a zero byte") }
        let result = Self.module.withLock { _ -> Result<(Handle, [UInt8]), AuthorityError> in
            ERR_clear_error()
            guard let engine = Self.engine(modulePath: uri.modulePath, pin: pin) else {
                return .failure(.module(Self.reason()))
            }
            guard let key = COpenSSL_pkcs11_key(engine, uri.object) else {
                let reason = Self.reason()
                COpenSSL_pkcs11_release(engine)
                return .failure(.module(reason))
            }
            let handle = Handle(engine: engine, key: key)
            var bytes: UnsafeMutablePointer<UInt8>?
            let length = Int(i2d_PUBKEY(key, &bytes))
            guard length > 0 else {
                let reason = Self.reason()
                Self.release(handle)
                return .failure(.module(reason))
            }
            defer { CRYPTO_free(bytes, #file, #line) }
            return .success((handle, Array(UnsafeBufferPointer(start: bytes, count: length))))
        }
        let publicKeyBytes: [UInt8]
        (handle, publicKeyBytes) = try result.get()
        guard let publicKey = try? Certificate.PublicKey(derEncoded: publicKeyBytes) else { throw .unsupportedKey }
        self.publicKey = publicKey
    }

    deinit {
        Self.module.withLock { _ in Self.release(handle) }
    }

    private static func release(_ handle: Handle) {
        EVP_PKEY_free(handle.key)
        COpenSSL_pkcs11_release(handle.engine)
    }

    /// Signs with a digest by OpenSSL's name, such as `SHA256`: a DER ECDSA-Sig-Value or a PKCS#1 v1.5 signature.
    func sign(_ bytes: [UInt8], digest: String) throws(AuthorityError) -> [UInt8] {
        let result = Self.module.withLock { _ -> Result<[UInt8], AuthorityError> in
            ERR_clear_error()
            let context = EVP_MD_CTX_new()
            defer { EVP_MD_CTX_free(context) }
            var length = 0
            guard let algorithm = EVP_get_digestbyname(digest),
                EVP_DigestSignInit(context, nil, algorithm, nil, handle.key) == 1,
                EVP_DigestSign(context, nil, &length, bytes, bytes.count) == 1
            else { return .failure(.module(Self.reason())) }
            var signature = [UInt8](repeating: 0, count: length)
            guard EVP_DigestSign(context, &signature, &length, bytes, bytes.count) == 1 else {
                return .failure(.module(Self.reason()))
            }
            return .success(Array(signature.prefix(length)))
        }
        return try result.get()
    }

    private static func engine(modulePath: String, pin: String?) -> OpaquePointer? {
        guard let pin else { return COpenSSL_pkcs11_engine(modulePath, nil) }
        return COpenSSL_pkcs11_engine(modulePath, pin)
    }

    /// The first reason in OpenSSL's queue. It is the cause; later ones report what failed in consequence.
    private static func reason() -> String {
        let code = ERR_get_error()
        guard code != 0 else { return "no reason given" }
        var buffer = [CChar](repeating: 0, count: 256)
        ERR_error_string_n(code, &buffer, buffer.count)
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// A ``HardwareKey`` as a private key of swift-certificates.
struct HardwarePrivateKey: CustomPrivateKey {
    let key: HardwareKey
    let defaultSignatureAlgorithm: Certificate.SignatureAlgorithm
    let digest: String

    var publicKey: Certificate.PublicKey { key.publicKey }
    var supportedSignatureAlgorithms: [Certificate.SignatureAlgorithm] { [defaultSignatureAlgorithm] }

    static var defaultPEMDiscriminator: String { "PRIVATE KEY" }

    func signSynchronously(
        bytes: some DataProtocol, signatureAlgorithm: Certificate.SignatureAlgorithm
    ) throws -> Certificate.Signature {
        guard signatureAlgorithm == defaultSignatureAlgorithm else { throw AuthorityError.unsupportedKey }
        let signature = try key.sign(Array(bytes), digest: digest)
        return try Certificate.Signature(
            signatureAlgorithm: signatureAlgorithm, signatureBytes: ASN1BitString(bytes: signature[...]))
    }

    /// Always throws: the key cannot leave the module.
    func serialize(into coder: inout DER.Serializer) throws {
        throw AuthorityError.unsupportedKey
    }

    static func == (left: HardwarePrivateKey, right: HardwarePrivateKey) -> Bool {
        left.publicKey == right.publicKey
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(publicKey)
    }
}
