import Domain

/// A provider's registered key, prepared for verification.
package struct RegisteredKey: Sendable {
    /// The `kid` of its tokens.
    package let id: ProviderKeyID
    package let providerID: ProviderID
    /// The key and its algorithm.
    package let verificationKey: VerificationKey
    /// Whether it is retired or revoked; its tokens are refused with `key_retired`.
    package let retired: Bool

    package init(id: ProviderKeyID, providerID: ProviderID, verificationKey: VerificationKey, retired: Bool) {
        self.id = id
        self.providerID = providerID
        self.verificationKey = verificationKey
        self.retired = retired
    }

    /// Prepares a stored key.
    ///
    /// - Throws: `Refusal` `invalid_provider_key` for a record whose key or algorithm would not be registered today.
    package init(_ record: ProviderKeyRecord) throws(Refusal) {
        guard let algorithm = SignatureAlgorithm(rawValue: record.algorithm) else {
            throw Refusal.unsupportedKey
        }
        self.init(
            id: record.id, providerID: record.providerID,
            verificationKey: try VerificationKey(
                subjectPublicKeyInfo: record.subjectPublicKeyInfo, algorithm: algorithm),
            retired: record.retiredAt != nil || record.revokedAt != nil)
    }
}
