import Database
import Foundation

/// How the closed stores of a kind are copied.
struct StoreCopying: Sendable {
    /// Makes what the template will be opened in.
    let prepare: @Sendable (_ template: URL) throws -> Void
    /// Copies the closed template to where the store of a directory is opened.
    let copy: @Sendable (_ template: URL, _ directory: URL) throws -> Void
    /// Removes a copy that lies outside its directory.
    let remove: @Sendable (_ directory: URL) throws -> Void

    static let files = StoreCopying(
        prepare: { _ in },
        copy: { template, directory in
            for name in try FileManager.default.contentsOfDirectory(atPath: template.path) {
                try FileManager.default.copyItem(
                    at: template.appendingPathComponent(name), to: directory.appendingPathComponent(name))
            }
        }, remove: { _ in })

    static let databases = StoreCopying(
        prepare: { _ = try PostgreSQLCluster.shared.newDatabase($0.lastPathComponent) },
        copy: { _ = try PostgreSQLCluster.shared.newDatabase($1.lastPathComponent, from: $0.lastPathComponent) },
        remove: { try PostgreSQLCluster.shared.dropDatabase($0.lastPathComponent) })
}

/// Stores that are migrated once, of which each test gets a copy: a migration of the whole schema takes ten times longer.
actor StoreTemplates {
    static let shared = StoreTemplates()

    private var templates: [[String]: Task<URL, any Error>] = [:]
    private let scratch = Result { try ScratchDirectory.untilExit() }

    /// Puts a migrated store where the kind opens the one of this directory; `false` if the kind cannot be copied, or if
    /// the migrations have so few statements that they take no longer than a copy.
    func copy(_ kind: StoreKind, _ migrations: [Migration], to directory: URL) async throws -> Bool {
        guard let copying = kind.copying, migrations.flatMap(\.statements).count > 8 else { return false }
        let name = [kind.description] + migrations.flatMap { ["\($0.identifier)"] + $0.statements }
        let folder = URL(filePath: try scratch.get().path).appending(path: "template-\(UUID().uuidString)")
        let made =
            templates[name]
            ?? Task {
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
                try await onOwnThread { try copying.prepare(folder) }
                let store = try kind.open(folder) { Date(timeIntervalSince1970: 1_800_000_000) }
                do { try await store.migrate(migrations) } catch {
                    try await store.close()
                    throw error
                }
                try await store.close()
                return folder
            }
        templates[name] = made
        let template: URL
        do { template = try await made.value } catch {
            templates[name] = nil
            throw error
        }
        // Files and databases are copied side by side, not one after the other by this actor.
        try await onOwnThread { try copying.copy(template, directory) }
        return true
    }
}
