import Database
import Domain
import Foundation

/// The web pages and native apps that may call wallets for an app.
package struct WalletOriginRepository {
    private let transaction: any Transaction
}

package extension WalletOriginRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    private static let columns = Table<AppOrigin>(
        "wallet_origins", AppOrigin.init,
        Field("application_id", \.applicationID),
        Field("origin", \.origin))

    /// Inserts a new origin; `false` if the app has it already.
    func insert(_ origin: AppOrigin) throws -> Bool {
        try transaction.execute(
            "\(Self.columns.insertion) ON CONFLICT (application_id, origin) DO NOTHING", Self.columns.row(origin)) > 0
    }

    func contains(_ origin: AppOrigin) throws -> Bool {
        try transaction.first(
            Self.columns, "WHERE application_id = $1 AND origin = $2",
            [.id(origin.applicationID), origin.origin.value]) != nil
    }

    /// The origins of an app, in the order of their texts.
    func list(of app: ApplicationID) throws -> [AppOrigin] {
        try transaction.query(Self.columns, "WHERE application_id = $1 ORDER BY application_id, origin", [.id(app)])
    }

    func all() throws -> [AppOrigin] {
        try transaction.query(Self.columns, "ORDER BY application_id, origin")
    }

    /// Removes an origin; `false` if the app does not have it.
    func remove(_ origin: AppOrigin) throws -> Bool {
        try transaction.execute(
            "DELETE FROM wallet_origins WHERE application_id = $1 AND origin = $2",
            [.id(origin.applicationID), origin.origin.value]) > 0
    }
}

extension WalletOrigin: ColumnContent {
    var value: Value { .text(text) }

    static func read(_ row: Row, _ index: Int) throws -> WalletOrigin {
        guard let origin = WalletOrigin(try row.text(index)) else { throw DamagedRow(column: index) }
        return origin
    }
}
