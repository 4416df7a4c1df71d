import ArgumentParser
import Authority
import Domain
import Encoding
import Foundation
import Operations

/// `countersign admin …`: the people who administer the service under a role.
struct AdminsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "admin", abstract: "Add, list, remove and renew administrators, and confirm their acts.",
        subcommands: [Add.self, List.self, Remove.self, Renew.self, Acts.self, Confirm.self])

    struct Add: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add an administrator: a certificate, an operating system account, or both.",
            discussion: """
                An auditor reads the audit log and the status. Support finds users by external id, ends and challenges \
                their sessions. A reviewer decides about cards. Security may do everything. With --os-user the role \
                limits the commands of that account. Accounts that belong to no administrator keep all rights.
                """,
            example: "admin add lena --role support --out lena.p12")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The name in the audit log: letters A to Z, digits and the marks . _ @ + -.") var name: String
        @Option(help: "The role: auditor, support, reviewer or security.") var role: AdminRole
        @Option(help: "An operating system account whose commands get the role.") var osUser: String?
        @OptionGroup var certificate: AdminCertificateOptions

        func report(_ admin: Admin) async throws -> Report {
            guard certificate.out != nil || osUser != nil else {
                throw CommandFailure("Give --out, --os-user or both.", exitCode: .usage)
            }
            guard Administrator.isName(name), osUser.map(Administrator.isName) ?? true else {
                throw CommandFailure(Refusal.unreadableAdministratorName.commandWording, exitCode: .usage)
            }
            let (made, file) = try await certificate.issuing(name, admin) { certificate in
                try await admin.administration.addAdministrator(
                    name, role: role, account: osUser, certificate: certificate)
            }
            return Report(
                [
                    Entry("admin_id", "admin", made.id), Entry("name", made.name), Entry("role", made.role.rawValue),
                    Entry("os_user", "account", made.account),
                ] + AdminCertificateOptions.entries(of: file))
        }
    }

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "List administrators by name, with the end of each certificate.",
            example: "admin list")
        @OptionGroup var shared: SharedOptions

        func report(_ admin: Admin) async throws -> Report {
            Report(
                try await admin.administration.listAdministrators(),
                [
                    Field("name", column: "NAME") { $0.administrator.name },
                    Field("role", column: "ROLE") { $0.administrator.role.rawValue },
                    Field("os_user", column: "ACCOUNT") { $0.administrator.account },
                    Field("certificate_until", column: "CERTIFICATE UNTIL") { $0.certificateEnd },
                    Field("removed_at", column: "REMOVED") { $0.administrator.removedAt },
                    .json("admin_id") { $0.administrator.id },
                ])
        }
    }

    struct Remove: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove an administrator: the certificates are revoked, the account's commands are refused.",
            discussion: "It is in force on every node within a second. The name stays in the list.",
            example: "admin remove lena --reason left_company")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The administrator's name.") var name: String
        @OptionGroup var why: ReasonOption

        func report(_ admin: Admin) async throws -> Report {
            let revoked = try await admin.administration.removeAdministrator(name, reason: why.parsed())
            return Report(
                "\(name) is removed; \(revoked.counting("certificate")) \(revoked == 1 ? "is" : "are") revoked.",
                json: [.json("removed", name), .json("certificates_revoked", revoked)])
        }
    }

    struct Renew: AdminCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give an administrator a new certificate; the former ones are revoked.",
            example: "admin renew lena --out lena-2.p12 --until 2027-01-31")
        @OptionGroup var shared: SharedOptions
        @Argument(help: "The administrator's name.") var name: String
        @OptionGroup var certificate: AdminCertificateOptions

        func report(_ admin: Admin) async throws -> Report {
            guard certificate.out != nil else {
                throw CommandFailure("--out is missing: give the path of the new file.", exitCode: .usage)
            }
            // Options first: a mistyped one is reported whatever the store has.
            _ = try certificate.end(now: admin.environment.now())
            try await admin.administration.requireAdministrator(name)
            let (revoked, file) = try await certificate.issuing(name, admin) { certificate in
                guard let certificate else { return 0 }
                return try await admin.administration.renewAdministrator(name, certificate: certificate)
            }
            return Report(
                [Entry("name", name), Entry("certificates_revoked", revoked)]
                    + AdminCertificateOptions.entries(of: file))
        }
    }
}

extension AdminRole: ExpressibleByArgument {}

/// The certificate that a command makes.
struct AdminCertificateOptions: ParsableArguments {
    @Option(help: "A new file for the certificate: PKCS#12 with a new key, or PEM with --csr.") var out: String?
    @Option(help: "The file of a PKCS#10 request, such as of a hardware token.") var csr: String?
    @Option(help: "The end of the certificate: 2027-01-31T12:00:00Z or 2027-01-31; 30 days by default.")
    var until: String?

    func validate() throws {
        guard out != nil || csr == nil && until == nil else {
            throw ValidationError("--csr and --until require --out.")
        }
    }

    /// The moment of `--until`; `nil` for the default.
    func end(now: Date) throws(CommandFailure) -> Date? {
        try until.map { text throws(CommandFailure) in try futureMoment(text, "--until", now: now) }
    }

    /// Makes a certificate, if `--out` asks for one, and runs the operation that stores it. The file gets its name only
    /// after that.
    func issuing<Value>(
        _ name: String, _ admin: Admin, _ operation: (AdministratorCertificate?) async throws -> Value
    ) async throws -> (Value, AdminCertificateFile?) {
        guard let out else { return (try await operation(nil), nil) }
        let now = admin.environment.now()
        let end = try end(now: now)
        let isFirst = try await !admin.administration.hasAdministratorCertificates()
        let authority = try AdministratorAuthority(
            directory: admin.keysDirectory, now: now, randomBytes: admin.environment.randomBytes
        ).open(isFirst: isFirst)
        let file = try AdminCertificateFile(
            path: out, name: name, request: csr, end: end, authority: authority, admin)
        let value: Value
        do {
            value = try await operation(file.certificate)
        } catch {
            file.discard()
            throw error
        }
        try file.finish(name: name)
        return (value, file)
    }

    static func entries(of file: AdminCertificateFile?) -> [Entry] {
        guard let file else { return [] }
        return [
            Entry("file", file.path), Entry("certificate_until", file.certificate.notAfter),
            Entry("password", file.password, none: nil),
        ]
    }
}
