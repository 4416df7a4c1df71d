import Foundation
import GRDB
import SampleBackend

/// A reading service for the blind: volunteers read articles, and their hours are reported to the grantor. There is no
/// sign-up: staff create all accounts.
///
/// Read it in this order: ``StaffCommands`` (staff's commands on this machine), ``ReaderRoutes`` (accounts and personal
/// data), ``TimerRoutes`` (the session timer), ``RecordingRoutes`` (uploads), ``ReaderStore`` and its extensions.
@main
struct Reader {
    static func main() async {
        var arguments = Array(CommandLine.arguments.dropFirst())
        let name = arguments.first.map { $0.hasPrefix("--") ? "serve" : $0 } ?? "serve"
        if arguments.first == name { arguments.removeFirst() }
        let defaults = Sample.commonDefaults.merging(Passwords.option) { $1 }.merging([
            "--key": "provider.key", "--registration": "provider.json", "--store": "reader.db", "--csv": "",
            "--username": "", "--month": "", "--zone": "America/Los_Angeles", "--recordings": "recordings",
            "--uploads": "uploads", "--recording-megabytes": "256", "--s3-region": "us-east-1", "--s3-endpoint": "",
        ]) { $1 }
        await Sample.run("reader", arguments: arguments, defaults: defaults) { sample in
            guard let command = Command(rawValue: name) else {
                let names = Command.allCases.map(\.rawValue).joined(separator: ", ")
                throw Options.Malformed(reason: "\(name) is not a command. The commands are \(names).")
            }
            do {
                try await execute(command, sample)
            } catch let error as DatabaseError {
                let reason = error.message ?? "SQLite reports \(error.resultCode.rawValue)"
                throw Options.Failure(reason: "The store at \(sample.options["--store"]) cannot be used: \(reason).")
            }
        }
    }

    private enum Command: String, CaseIterable { case serve, provision, rename, reset, changes, report, recordings }

    private static func execute(_ command: Command, _ sample: Sample) async throws {
        let months = try Months(zone: sample.options["--zone"])
        // Only the server creates a store. A command with a wrong path would change an empty one.
        let store = try ReaderStore(file: sample.options["--store"], creating: command == .serve)
        let staff = StaffCommands(sample: sample, store: store, months: months)
        switch command {
        case .serve: try await serve(sample, store, months)
        case .provision: try await staff.provision()
        case .rename: try await staff.rename()
        case .reset: try await staff.resetPassword()
        case .changes: try await staff.printChanges()
        case .report: try await staff.printReport()
        case .recordings: try await staff.printRecordings()
        }
    }

    private static func serve(_ sample: Sample, _ store: ReaderStore, _ months: Months) async throws {
        let countersign = try CountersignCalls(sample)
        let verify = SessionVerifier(sample, audience: countersign.providerID)
        let routes = ReaderRoutes(
            store: store, passwords: try Passwords(sample), countersign: countersign, verify: verify)
        let device = routes.personal()
        TimerRoutes(store: store, verify: verify, months: months).add(to: device)
        guard let megabytes = Int64(sample.options["--recording-megabytes"]), (1...4096).contains(megabytes) else {
            throw Options.Malformed(reason: "--recording-megabytes must be from 1 to 4096")
        }
        let uploads = try UploadFolder(path: sample.options["--uploads"])
        let keeper = RecordingKeeper(
            store: store, uploads: uploads, archive: try archive(sample), logger: sample.logger)
        RecordingRoutes(store: store, verify: verify, uploads: uploads, keeper: keeper, maximum: megabytes << 20)
            .add(to: device)
        let accounts = routes.accounts()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await keeper.run(every: .seconds(30)) }
            try await sample.serve(plain: accounts, device: device)
            group.cancelAll()
        }
    }

    /// The folder or bucket that `--recordings` names.
    private static func archive(_ sample: Sample) throws -> any RecordingArchive {
        let place = sample.options["--recordings"]
        guard place.hasPrefix("s3://") else {
            return FolderArchive(folder: URL(filePath: place, directoryHint: .isDirectory))
        }
        return try BucketArchive(
            place: String(place.dropFirst("s3://".count)), region: sample.options["--s3-region"],
            endpoint: sample.options["--s3-endpoint"], environment: ProcessInfo.processInfo.environment)
    }
}
