#if canImport(Security)
    import Foundation
    import Security

    /// Stores private keys in the Secure Enclave of an Apple device, which signs and never reveals them.
    ///
    /// This file was type-checked against a stub of `Security`. It was not run on an Apple device.
    public struct SecureEnclaveKeys: DeviceKeys {
        private let label: String
        private let flags: SecAccessControlCreateFlags

        /// - Parameters:
        ///   - label: the common label of this app's keys.
        ///   - requiresUser: whether each signature asks the user, by Touch ID, Face ID or the passcode, as
        ///   ``Presence`` requires.
        public init(label: String = "countersign", requiresUser: Bool = false) {
            self.label = label
            flags = requiresUser ? [.privateKeyUsage, .userPresence] : .privateKeyUsage
        }

        public func make(_ name: String) throws(StorageFailure) -> Data {
            var error: Unmanaged<CFError>?
            guard
                let access = SecAccessControlCreateWithFlags(
                    nil, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, flags, &error)
            else { throw Self.failure(error) }
            let privateAttributes: [String: Any] = [
                kSecAttrIsPermanent as String: true, kSecAttrApplicationTag as String: Data(name.utf8),
                kSecAttrLabel as String: label, kSecAttrAccessControl as String: access,
            ]
            let attributes: [String: Any] = [
                kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits as String: 256,
                kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave,
                kSecPrivateKeyAttrs as String: privateAttributes,
            ]
            guard let key = SecKeyCreateRandomKey(attributes as CFDictionary, &error) else { throw Self.failure(error) }
            return try publicPoint(of: key)
        }

        public func publicPoint(_ name: String) throws(StorageFailure) -> Data? {
            guard let key = try key(name) else { return nil }
            return try publicPoint(of: key)
        }

        public func sign(_ message: Data, with name: String) throws(StorageFailure) -> Data {
            guard let key = try key(name) else { throw .damaged }
            var error: Unmanaged<CFError>?
            guard
                let signature = SecKeyCreateSignature(
                    key, .ecdsaSignatureMessageX962SHA256, message as CFData, &error)
            else { throw Self.failure(error) }
            return signature as Data
        }

        public func removeAll(except names: Set<String>) throws(StorageFailure) {
            var query = item
            query[kSecMatchLimit as String] = kSecMatchLimitAll
            query[kSecReturnAttributes as String] = true
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            if status == errSecItemNotFound { return }
            guard status == errSecSuccess else { throw StorageFailure(keychain: status) }
            for attributes in found as? [[String: Any]] ?? [] {
                guard let tag = attributes[kSecAttrApplicationTag as String] as? Data,
                    !names.contains(String(decoding: tag, as: UTF8.self))
                else { continue }
                var old = item
                old[kSecAttrApplicationTag as String] = tag
                let status = SecItemDelete(old as CFDictionary)
                guard status == errSecSuccess || status == errSecItemNotFound else {
                    throw StorageFailure(keychain: status)
                }
            }
        }

        private var item: [String: Any] {
            [
                kSecClass as String: kSecClassKey, kSecAttrLabel as String: label,
                kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
            ]
        }

        private func key(_ name: String) throws(StorageFailure) -> SecKey? {
            var query = item
            query[kSecAttrApplicationTag as String] = Data(name.utf8)
            query[kSecReturnRef as String] = true
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess, let found else { throw StorageFailure(keychain: status) }
            // The query requested a key. Core Foundation's types do not support a conditional cast.
            return unsafeDowncast(found, to: SecKey.self)
        }

        private func publicPoint(of key: SecKey) throws(StorageFailure) -> Data {
            var error: Unmanaged<CFError>?
            guard let open = SecKeyCopyPublicKey(key), let point = SecKeyCopyExternalRepresentation(open, &error) else {
                throw Self.failure(error)
            }
            return point as Data
        }

        private static func failure(_ error: Unmanaged<CFError>?) -> StorageFailure {
            guard let error else { return .failed(code: errSecInternalError) }
            let failure = error.takeRetainedValue()
            // For every error of LocalAuthentication the user was not recognized.
            if CFErrorGetDomain(failure) as String == "com.apple.LocalAuthentication" { return .notPresent }
            return StorageFailure(keychain: OSStatus(truncatingIfNeeded: CFErrorGetCode(failure)))
        }
    }

    extension DeviceKeys where Self == SecureEnclaveKeys {
        public static var platform: SecureEnclaveKeys { SecureEnclaveKeys() }
    }
#endif
