import API
import Authority
import Console
import Database
import Domain
import Foundation
import Operations

/// The console: its listener, its loops, and what its pages read of this process.
extension Server {
    /// The listener, if it is enabled.
    func consoleListener(
        _ listeners: Listeners, onRunning: @escaping @Sendable (Int) -> Void
    ) -> [Listening.Listener] {
        guard let console else { return [] }
        let pages = Console(
            ConsoleParts(
                service: service, node: Self.hostName(), history: console.history, policies: policyRows,
                auditKeys: { [settings] in try KeyFiles.auditKeys(in: settings.keys) }),
            keys: keys.nonceSecrets.formKeys(generation: nonceKey.generation),
            isOwnHost: { [server] in server.present.covers($0) }, status: Listeners.status,
            administration: { [store, environment, service, personal = keys.personal] administrator, isPage in
                Administration(
                    store: store, environment: environment, actor: Console.actor(administrator),
                    administrator: administrator, fourEyesOver: service.policy[\.bans].fourEyesOver,
                    reading: isPage ? .console : .administration
                ) { personal }
            })
        let listener = listeners.makeConsole(
            at: console.address.listener, tls: console.tls, connections: console.connections,
            pages: { await pages.respond(to: $0, body: $1, thumbprint: $2, id: $3) }, onRunning: onRunning)
        return [.init(name: "console", address: console.address, service: listener)]
    }

    /// The loops of the console, if it is enabled.
    func consoleLoops() -> [Loop] {
        guard let console else { return [] }
        return [
            Loop(name: "administrators", logger: logger) { [service] in
                await Self.closeInvalid(console, service)
            },
            Loop(name: "figures", logger: logger) { [self] in
                await console.history.run(now: environment.now) { await figures(console) }
            },
        ]
    }

    /// Closes the connections of administrators who were removed, or whose certificate was replaced or has ended.
    private static func closeInvalid(_ console: ConsoleListener, _ service: Operations.Service) async {
        while !Task.isCancelled {
            await console.connections.close { thumbprint in
                do {
                    _ = try await service.authenticateAdministrator(thumbprint)
                    return true
                } catch let refusal as Refusal {
                    return refusal.code != .certificateRevoked
                } catch {
                    return true
                }
            }
            try? await Task.sleep(for: .milliseconds(250))
        }
    }

    /// The figures of the start page; `nil` while the store cannot be read.
    private func figures(_ console: ConsoleListener) async -> ConsoleFigures? {
        guard let tallies = try? await service.readTallies(), let backlog = try? await service.readBacklog() else {
            return nil
        }
        let refusals = registry.counters("refusals").map { labels, value in
            (labels.filter { !$0.isEmpty }.joined(separator: ": "), value)
        }
        return ConsoleFigures(
            sessions: tallies.sessions,
            live: service.node.caches.sessions.countLive(now: environment.now(), policy: policy[\.sessions]),
            signIns: registry.counters("nonces_spent").reduce(0) { $0 + $1.value },
            refusals: Dictionary(refusals, uniquingKeysWith: +),
            texts: registry.counters("phone_texts").filter { $0.labels == ["send"] }.reduce(0) { $0 + $1.value },
            spent: tallies.spent, review: backlog.review, outbox: backlog.outbox, nodes: tallies.nodes,
            ends: [
                ("server", server.present.notAfter), ("authority of devices", keys.authorities.current.notAfter),
                ("authority of administrators", console.authorities.endsAt),
            ])
    }

    /// The policies in force, with the lines of the files as they are now.
    private var policyRows: @Sendable () -> [ConsoleParts.PolicyRow] {
        { [settings, policy] in
            let lines = PolicyFiles.read(directory: settings.policies, required: false).lines
            let (present, standard) = (policy[\.self], Policy())
            return PolicyArea.all.flatMap { area in
                area.fields.map { field in
                    ConsoleParts.PolicyRow(
                        file: area.name + ".yaml", key: field.key, value: field.written(present),
                        standard: field.written(standard), line: lines["\(area.name)/\(field.key)"])
                }
            }
        }
    }
}
