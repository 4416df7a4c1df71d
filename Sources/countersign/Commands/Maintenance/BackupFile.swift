import Database
import Domain
import Foundation
import Repositories

/// A file that is to replace the store.
struct BackupFile {
    let path: String
    let maintenance: SQLiteMaintenance

    /// Examines a file.
    ///
    /// - Throws: ``CommandFailure`` if it does not exist or has a defect.
    init(examining path: String) throws {
        do {
            let maintenance = try SQLiteMaintenance(path: path)
            let defects = try Progress("examining the backup").during { try maintenance.inspect() }
            guard defects.isEmpty else {
                throw CommandFailure("\(path) is damaged: \(defects.joined(separator: "; ")).")
            }
            (self.path, self.maintenance) = (path, maintenance)
        } catch StoreError.unavailable(let reason) {
            throw CommandFailure("\(path) cannot be read as a store: \(reason).")
        }
    }

    /// Returns if the file is a store of this cell and of these keys, which this build can read.
    ///
    /// - Throws: ``CommandFailure`` that says what to do.
    func require(_ cell: Cell, _ keys: PersonalKeys, in directory: String) throws {
        try maintenance.read(now: Date()) { transaction in
            let remedy = "name a file that `countersign store backup` made."
            switch try transaction.origin() {
            case .empty: throw CommandFailure("\(path) has no tables: \(remedy)")
            case .foreign(let table):
                throw CommandFailure(
                    "\(path) is a database of another program: it has the table \(table) and no history of this "
                        + "service: \(remedy)")
            case .service: break
            }
            do {
                let pending = try transaction.pendingMigrations(of: Schema.migrations, acceptsNewer: false)
                guard pending.count < Schema.migrations.count else {
                    throw CommandFailure("\(path) has no schema: \(remedy)")
                }
            } catch StoreError.migration(let conflict) {
                throw CommandFailure("\(path) cannot be used: \(StoreError.migration(conflict).description).")
            }
            try cell.require(in: transaction, at: .sqlite(path: path))
            try keys.require(in: transaction, directory, of: path)
        }
    }
}

extension PersonalKeys {
    /// Returns if a store was written with these keys. Otherwise it is a store of another installation, or the files of
    /// the keys were replaced.
    ///
    /// - Throws: ``CommandFailure``.
    func require(in transaction: any Transaction, _ directory: String, of place: String) throws {
        let own = NodeFingerprints(
            items: [.wrappingKeys: wrappingFingerprints, .blindIndexKeys: indexFingerprints], policies: [:])
        guard let item = own.contradictions(to: try KeyFingerprintRepository(transaction).list()).first else { return }
        throw CommandFailure(
            "\(place) was written with other keys than those in \(directory) (\(item.rawValue)), so it may be of another "
                + "installation: name the directory of its keys with --keys, or another file.")
    }
}
