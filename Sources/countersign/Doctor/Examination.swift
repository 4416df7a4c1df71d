import Domain
import Encoding
import Foundation

/// Looks at an installation as a start of the service would, and further: at what is in force, and at what ends soon.
/// It changes nothing.
struct Examination {
    let shared: SharedOptions
    let serve: ServeOptions
    /// How old the last backup may be, in seconds; `nil` if backups are made by other means.
    var backupAge: TimeInterval? = 7 * 86_400
    var now: @Sendable () -> Date = { Date() }
    /// The free bytes of the file system that a path is on; `nil` if they are not known.
    var freeBytes: (String) -> Int64? = Self.freeBytes
    var environment = ProcessInfo.processInfo.environment
    var file = Settings.file()

    /// Everything that is wrong, the causes before what follows from them.
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
        return found
    }

    /// What a file system has free for the service.
    private static func freeBytes(_ path: String) -> Int64? {
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: path)
        return (attributes?[.systemFreeSize] as? NSNumber)?.int64Value
    }
}
