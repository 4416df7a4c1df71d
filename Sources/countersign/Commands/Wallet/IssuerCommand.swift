import ArgumentParser
import Authority
import Domain
import Encoding
import Foundation
import Operations

struct IssuerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "issuer", abstract: "List, add, remove and fetch the issuers whose credentials are trusted.",
        subcommands: [List.self, Add.self, Remove.self, Fetch.self])

    /// A trusted issuer and where it comes from.
    private struct Issuer {
        let source: String
        let anchor: IssuerTrust.Anchor
    }

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the issuers among the keys and those of the fetched list.", example: "issuer list")
        @OptionGroup var shared: SharedOptions

        func report(_ admin: Admin) async throws -> Report {
            var issuers = try IssuerFiles.anchors(in: IssuerCommand.directory(admin.settings)).map {
                Issuer(source: $0.file, anchor: $0.anchor)
            }
            let url = try admin.policy().wallet.vicalURL
            if !url.isEmpty, let stored = try await admin.administration.storedTrustList(from: url) {
                let roots = try WalletFiles.listRoots(in: admin.keysDirectory)
                do throws(TrustList.Defect) {
                    let list = try TrustList(stored.body, rootedIn: roots, now: admin.environment.now())
                    issuers += list.anchors.map { Issuer(source: "list", anchor: $0) }
                } catch {
                    throw CommandFailure("The stored list of issuers cannot be used. \(error.rawValue)")
                }
            }
            return Report(
                issuers,
                [
                    Field("source", column: "SOURCE") { $0.source },
                    Field("name", column: "ISSUER") { $0.anchor.name },
                    Field("types", column: "TYPES", none: "all") { types($0.anchor.typeNames) },
                    Field("not_after", column: "EXPIRES") { $0.anchor.end.rfc3339 },
                ])
        }
    }

    struct Add: InstallationCommand {
        static let configuration = CommandConfiguration(
            abstract: "Trust an issuer: copy its certificate to the keys.",
            discussion: "The service uses it after SIGHUP or its next start. Do it on every node.",
            example: "issuer add virginia.pem --type org.iso.18013.5.1.mDL")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The certificate of the issuer's authority, PEM.") var file: String
        @Option(help: "The document type or vct that its signers may sign; all without it. It can be repeated.")
        var type: [String] = []
        @Option(help: "The name of the copy; by default that of the file without .pem.") var name: String?

        func report(on installation: Installation) async throws -> Report {
            let name = try IssuerCommand.checked(
                name ?? URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent,
                hint: name == nil ? " Name the copy with --name." : "")
            let types = try type.map(Self.credentialType)
            let path = try IssuerFiles.add(
                file, as: name, types: types, to: IssuerCommand.directory(installation.settings))
            return Report("\(path) is written. Send the service SIGHUP.", json: [.json("added", name)])
        }

        private static func credentialType(_ text: String) throws(CommandFailure) -> CredentialType {
            guard let type = CredentialType(text) else {
                throw CommandFailure(
                    "--type must be one document type or vct without spaces and commas: repeat it for each further one.",
                    exitCode: .usage)
            }
            return type
        }
    }

    struct Remove: InstallationCommand {
        static let configuration = CommandConfiguration(
            abstract: "Trust an issuer no longer: remove its certificate from the keys.",
            discussion: "The service uses it until SIGHUP or its next start. Do it on every node.",
            example: "issuer remove virginia")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The name of the file, as issuer list shows it. Its .pem may be left out.") var name: String
        @Flag(help: "Preview only; change nothing.") var dryRun = false
        @OptionGroup var unasked: UnaskedOption

        func report(on installation: Installation) async throws -> Report {
            let name = try IssuerCommand.checked(name)
            let path = try IssuerFiles.remove(
                name, from: IssuerCommand.directory(installation.settings), isPreview: dryRun)
            return Report(
                dryRun ? "\(path) would be removed." : "\(path) is removed. Send the service SIGHUP.",
                json: [.json("removed", dryRun ? nil : name), .json("dry_run", dryRun)]
            ).noting(previewNote(dryRun))
        }
    }

    struct Fetch: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Fetch the list of issuers (VICAL) at vical_url, verify and store it.",
            discussion: "The service does it every hour. A list never replaces a later one.", example: "issuer fetch")
        @OptionGroup var shared: SharedOptions

        func report(_ admin: Admin) async throws -> Report {
            let policy = try admin.policy()
            let url = policy.wallet.vicalURL
            guard !url.isEmpty else {
                throw CommandFailure("No list of issuers is used. Name one with vical_url in wallet.yaml.")
            }
            let roots = try WalletFiles.listRoots(in: admin.keysDirectory)
            let allowsLoopback = admin.settings.allowsLoopbackURLs
            guard
                let body = await WalletFiles.fetchList(policy.delivery, allowsLoopback: allowsLoopback, url)
            else {
                throw CommandFailure("\(url) cannot be fetched. Check the URL and this machine's network.")
            }
            do {
                let (list, isNew) = try await admin.administration.storeTrustList(body, from: url, rootedIn: roots)
                return Report([
                    Entry("provider", list.provider), Entry("dated_at", list.date.rfc3339),
                    Entry("next_update", list.nextUpdate?.rfc3339, none: "unknown"),
                    Entry("issuers", list.anchors.count), Entry("unusable", list.unusable), Entry("stored", isNew),
                ])
            } catch let defect as TrustList.Defect {
                throw CommandFailure("The list at \(url) is not valid. \(defect.rawValue)")
            }
        }
    }

    /// The types of an issuer in one text; `nil` for all.
    private static func types(_ names: [String]?) -> ReportCell? {
        names.map { names in
            let text = names.joined(separator: ", ")
            return ReportCell(.string(text), names.isEmpty ? "none" : text)
        }
    }

    private static let ending = ".pem"

    private static func directory(_ settings: Settings) -> String { "\(settings.keys)/\(IssuerFiles.name)" }

    /// The name of an issuer's file without its ending, which may be given too.
    private static func checked(_ text: String, hint: String = "") throws(CommandFailure) -> String {
        let isFile = text.utf8.suffix(ending.utf8.count).elementsEqual(ending.utf8)
        let name = isFile ? String(text.dropLast(ending.count)) : text
        let isName =
            name.utf8.count <= 64 && name.utf8.first != UInt8(ascii: ".")
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
        guard isName, !name.isEmpty else {
            throw CommandFailure(
                "The name must be up to 64 characters: A to Z in either case, digits, dots, hyphens and underscores, and no "
                    + "dot first.\(hint)",
                exitCode: .usage)
        }
        return name
    }
}
