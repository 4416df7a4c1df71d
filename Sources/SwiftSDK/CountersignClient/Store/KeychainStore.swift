#if canImport(Security)
    import Foundation
    import Security

    /// Stores the secret in the keychain of iOS or macOS, on this device only, readable after its first unlock.
    ///
    /// This file was type-checked against a stub of `Security`. It was not run on an Apple device.
    public struct KeychainStore: SecretStore {
        private let account: String
        private let keyFile: URL

        /// - Parameters:
        ///   - account: the name of the item, such as the host of the service.
        ///   - container: a directory that is deleted with the app.
        public init(account: String, container: URL) {
            self.account = account
            keyFile = container.appending(path: "countersign-\(account).key")
        }

        private var item: [String: Any] {
            [
                kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "countersign",
                kSecAttrAccount as String: account,
            ]
        }

        public func read() throws(StorageFailure) -> Data? {
            var query = item
            query[kSecReturnData as String] = true
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess else { throw StorageFailure(keychain: status) }
            guard let sealed = found as? Data else { throw .damaged }
            if let secret = try SealedSecret.open(sealed, keyFile: keyFile) { return secret }
            // The secret is from an earlier installation of the app, which was deleted. Its user is no longer signed
            // in.
            try remove()
            return nil
        }

        public func write(_ secret: Data) throws(StorageFailure) {
            let sealed = try SealedSecret.seal(secret, keyFile: keyFile)
            let change: [String: Any] = [kSecValueData as String: sealed]
            var status = SecItemUpdate(item as CFDictionary, change as CFDictionary)
            if status == errSecItemNotFound {
                var new = item
                new[kSecValueData as String] = sealed
                new[kSecAttrAccessible as String] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
                status = SecItemAdd(new as CFDictionary, nil)
            }
            guard status == errSecSuccess else { throw StorageFailure(keychain: status) }
        }

        public func remove() throws(StorageFailure) {
            let status = SecItemDelete(item as CFDictionary)
            guard status == errSecSuccess || status == errSecItemNotFound else {
                throw StorageFailure(keychain: status)
            }
        }
    }

    extension StorageFailure {
        /// From a result of `Security`.
        init(keychain status: OSStatus) {
            self =
                switch status {
                case errSecUserCanceled: .notPresent
                case errSecInteractionNotAllowed, errSecAuthFailed, errSecMissingEntitlement: .notPermitted
                case errSecDiskFull: .full
                case errSecDecode: .damaged
                default: .failed(code: status)
                }
        }
    }

    extension SecretStore where Self == KeychainStore {
        /// The app's item in the keychain, sealed under a key in the app's container.
        public static var platform: KeychainStore {
            let containers = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
            return KeychainStore(
                account: "device", container: containers.first ?? FileManager.default.temporaryDirectory)
        }
    }
#endif
