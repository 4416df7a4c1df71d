import Database
import Domain

/// The apps of platforms whose devices may attest their keys, registered for a provider's apps.
package struct AttestedAppRepository {
    private let transaction: any Transaction
}

package extension AttestedAppRepository {
    init(_ transaction: any Transaction) {
        self.transaction = transaction
    }

    /// Inserts an app; `false` if it is registered for the provider's app already.
    func insert(_ app: AttestedApp, for application: ApplicationID) throws -> Bool {
        try transaction.execute(
            """
            INSERT INTO attested_apps (application_id, app) VALUES ($1, $2)
            ON CONFLICT (application_id, app) DO NOTHING
            """, [.id(application), app.value]) > 0
    }

    /// The apps of a provider's app, in the order of their texts.
    func list(of application: ApplicationID) throws -> [AttestedApp] {
        try transaction.values(
            "SELECT app FROM attested_apps WHERE application_id = $1 ORDER BY app", [.id(application)])
    }

    /// All apps. Devices belong to no provider when they are certified.
    func all() throws -> [AttestedApp] {
        try transaction.values("SELECT DISTINCT app FROM attested_apps ORDER BY app")
    }

    /// Removes an app; `false` if it is not registered for the provider's app.
    func remove(_ app: AttestedApp, of application: ApplicationID) throws -> Bool {
        try transaction.execute(
            "DELETE FROM attested_apps WHERE application_id = $1 AND app = $2", [.id(application), app.value]) > 0
    }
}

extension AttestedApp: ColumnContent {
    var value: Value { .text(text) }

    static func read(_ row: Row, _ index: Int) throws -> AttestedApp {
        guard let app = AttestedApp(text: try row.text(index)) else { throw DamagedRow(column: index) }
        return app
    }
}
