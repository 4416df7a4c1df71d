import ArgumentParser
import Domain
import Encoding
import Operations

struct AttestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attest",
        abstract:
            "List, add and remove the apps of Apple's platforms and of Android whose devices may attest their keys.",
        subcommands: [List.self, Add.self, Remove.self])

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the apps whose attestations are accepted for an app.",
            example: "provider app attest list c05e81d7")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The app's id or its beginning.") var app: TypedID<Kind.Application>

        func report(_ admin: Admin) async throws -> Report {
            Report(
                try await admin.administration.listAttestedApps(of: admin.resolve(app)),
                [Field("app", column: "APP") { $0.shown }])
        }
    }

    struct Add: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Accept attestations of an app of Apple's platforms or of Android.",
            discussion: "Attestations of other apps are refused, whatever they contain.",
            example: "provider app attest add c05e81d7 --apple ABCDE12345.com.example.app")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The app's id or its beginning.") var app: TypedID<Kind.Application>
        @OptionGroup var attested: AttestedAppOptions

        func report(_ admin: Admin) async throws -> Report {
            let added = try attested.parsed()
            try await admin.administration.addAttestedApp(added, to: admin.resolve(app))
            return Report("\(added.shown) is added.", json: [.json("added", added.shown)])
        }
    }

    struct Remove: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Refuse attestations of an app from now on.",
            discussion: "Certificates that were issued stay valid.",
            example: "provider app attest remove c05e81d7 --apple ABCDE12345.com.example.app --dry-run")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The app's id or its beginning.") var app: TypedID<Kind.Application>
        @OptionGroup var attested: AttestedAppOptions
        @Flag(help: "Preview only; change nothing.") var dryRun = false
        @OptionGroup var unasked: UnaskedOption

        func report(_ admin: Admin) async throws -> Report {
            let removed = try attested.parsed()
            let (admin, app) = (try admin.administration, try await admin.resolve(app))
            try await dryRun
                ? admin.previewRemoval(of: removed, of: app) : admin.removeAttestedApp(removed, of: app)
            return Report(
                "\(removed.shown) \(dryRun ? "would be" : "is") removed.",
                json: [.json("removed", dryRun ? nil : removed.shown), .json("dry_run", dryRun)]
            ).noting(previewNote(dryRun))
        }
    }
}

/// An app of a platform, by the names of its platform.
struct AttestedAppOptions: ParsableArguments {
    @Option(help: "The team's identifier and the bundle's, such as ABCDE12345.com.example.app.") var apple: String?
    @Option(help: "The Android package, such as com.example.app.") var android: String?
    @Option(help: "SHA-256 of the certificate that signs the package, in hexadecimal.") var certificate: String?

    func parsed() throws(CommandFailure) -> AttestedApp {
        switch (apple, android, certificate) {
        case (let apple?, nil, nil):
            guard let app = AttestedApp(apple: apple) else {
                throw CommandFailure(
                    "--apple must be the team's 10 characters, a dot, and the bundle's identifier.", exitCode: .usage)
            }
            return app
        case (nil, let package?, let certificate?):
            guard let digest = Self.digest(certificate) else {
                throw CommandFailure("--certificate must be 64 hexadecimal digits.", exitCode: .usage)
            }
            guard let app = AttestedApp(package: package, certificate: digest) else {
                throw CommandFailure("--android must be the name of a package.", exitCode: .usage)
            }
            return app
        default:
            throw CommandFailure("Give --apple, or --android with --certificate.", exitCode: .usage)
        }
    }

    /// Takes digits with or without colons between the bytes, as keytool writes them.
    private static func digest(_ text: String) -> Digest256? {
        let digits = text.utf8.filter { $0 != UInt8(ascii: ":") }.map { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == 64 else { return nil }
        let bytes = stride(from: 0, to: digits.count, by: 2).compactMap { place -> UInt8? in
            guard let high = digits[place], let low = digits[place + 1] else { return nil }
            return UInt8(high << 4 | low)
        }
        return Digest256(bytes)
    }
}
