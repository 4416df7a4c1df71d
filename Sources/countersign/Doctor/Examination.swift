import Domain
import Encoding
import Foundation

/// Checks an installation as the start of the service does, and also settings that are unsafe and keys that expire
/// soon. It changes nothing.
struct Examination {
    let shared: SharedOptions
    let serve: ServeOptions
    /// The maximum age of the last backup, in seconds; `nil` if backups are made by other means.
    var backupAge: TimeInterval? = 7 * 86_400
    /// The maximum age of reference data, in days; `nil` if the operator accepts any age.
    var referenceAge: Int? = 120
    var now: @Sendable () -> Date = { Date() }
    /// The free bytes of the file system of a path; `nil` if unknown.
    var freeBytes: (String) -> Int64? = Self.freeBytes
    var environment = ProcessInfo.processInfo.environment
    var file = Settings.file()

    /// All findings, causes before their consequences.
    func callAsFunction() async -> [Finding] {
        let settings: Settings
        do throws(CommandFailure) {
            settings = try Settings.resolve(
                shared: shared, serve: serve, environment: environment, file: file, isServed: false)
        } catch {
            return [Finding(.configuration, sentence: error.sentence)]
        }
        let reading = PolicyFiles.read(directory: settings.policies, required: settings.policiesNamed)
        let policy = reading.policy
        var found = reading.defects.map { Finding(.policies, $0.description, "see `countersign policy check`") }
        found += Self.findings(settings, policy)
        let (keys, keyFindings) = keys(settings, policy)
        found += keyFindings + Self.senders(settings, policy)
        found += await store(settings, policy, keys)
        found += oldReferenceData()
        return found
    }

    /// Tables in the program that are too old, as one finding, because one new release updates them all.
    private func oldReferenceData() -> [Finding] {
        guard let referenceAge else { return [] }
        let old = ReferenceData.all.filter { $0.days(at: now()) > referenceAge }
        guard !old.isEmpty else { return [] }
        let tables = old.map { "\($0.name) (\($0.days(at: now()).counting("day")))" }.joined(separator: ", ")
        return [
            Finding(
                .referenceData, "the program's tables are older than \(referenceAge) days: \(tables)",
                "install the newest release of countersign, or give --reference-data off until there is one")
        ]
    }

    /// The free bytes available to the service.
    private static func freeBytes(_ path: String) -> Int64? {
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: path)
        return (attributes?[.systemFreeSize] as? NSNumber)?.int64Value
    }
}
