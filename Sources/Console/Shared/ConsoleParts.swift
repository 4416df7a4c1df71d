import Crypto
import Domain
import Operations

/// What the process gives to every page besides the operations.
package struct ConsoleParts: Sendable {
    /// A value of the policies in force.
    package struct PolicyRow: Sendable, Equatable {
        let file: String
        let key: String
        let value: String
        /// The value that is in force if no line sets another.
        let standard: String
        /// The line of the file that sets it; `nil` for a default.
        let line: Int?

        package init(file: String, key: String, value: String, standard: String, line: Int?) {
            self.file = file
            self.key = key
            self.value = value
            self.standard = standard
            self.line = line
        }
    }

    /// This node: its policies, keys and caches.
    let service: Service
    /// The name of this node.
    let node: String
    /// The figures of the start page.
    let history: FigureHistory
    let verification = SharedVerification()
    /// The policies, as `policy check` shows them.
    let policies: @Sendable () -> [PolicyRow]
    /// The public keys that verify the audit log, current and former, by thumbprint (RFC 7638).
    let auditKeys: @Sendable () throws -> [String: P256.Signing.PublicKey]

    package init(
        service: Service, node: String = "local", history: FigureHistory = FigureHistory(),
        policies: @escaping @Sendable () -> [PolicyRow] = { [] },
        auditKeys: @escaping @Sendable () throws -> [String: P256.Signing.PublicKey] = { [:] }
    ) {
        self.service = service
        self.node = node
        self.history = history
        self.policies = policies
        self.auditKeys = auditKeys
    }
}
