import Database
import Domain
import Encoding
import Foundation
import Repositories

/// Removes administrators again who were removed since a copy of the store was made, gives the others their present
/// role, and revokes certificates again. Administrators who were added since are lost.
struct ReplayAdministrators: Sendable {
    private let administrators: [Administrator]
    private let revoked: [(thumbprint: Digest256, at: Date)]

    /// Reads the administrators of the replaced store.
    init(of transaction: any Transaction) throws {
        let records = AdministratorRepository(transaction)
        administrators = try records.list()
        revoked = try records.revokedCertificates()
    }

    /// Writes into the copy.
    ///
    /// - Returns: the administrators who were changed.
    func callAsFunction(in transaction: any Transaction) throws -> [Administrator] {
        let records = AdministratorRepository(transaction)
        var changed: [Administrator] = []
        for one in administrators {
            guard let present = try records.find(one.id), present != one else { continue }
            try records.save(one)
            changed.append(one)
        }
        for (thumbprint, time) in revoked { _ = try records.revokeCertificate(thumbprint, at: time) }
        return changed
    }
}
