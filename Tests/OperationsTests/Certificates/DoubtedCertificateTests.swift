import Database
import Domain
import Encoding
import Fixtures
import Foundation
import Repositories
import Testing

@testable import Operations

/// A node that cannot tell what it missed, as after a failover, and that remembers many devices.
@Suite("Certificates in doubt")
struct DoubtedCertificateTests {
    /// A node of its own over a store that counts, and connections that it has let in.
    private struct World {
        let fixture: ServiceFixture
        let store: StatementCounter
        let node: ServingNode
        let context: Service
        var connections: [ClientConnection] = []

        init(_ fixture: ServiceFixture) async throws {
            self.fixture = fixture
            store = StatementCounter(fixture.store)
            node = ServingNode(caches: Caches(store: store))
            context = fixture.context(store: store, node: node)
            try await context.invalidator.poll()
        }

        mutating func connect() async throws {
            let device = try await fixture.connectNewDevice()
            let connection = ClientConnection(id: ConnectionID(UUID()), thumbprint: device.thumbprint) {}
            try await judge(connection)
            connections.append(connection)
        }

        func judge(_ connection: ClientConnection) async throws {
            try await context.authenticate(connection)
        }

        /// Another life of the log begins, in which nothing that was read before can be found again.
        func interrupt(_ more: @Sendable @escaping (any Transaction) throws -> Void = { _ in }) async throws {
            try await fixture.store.write { transaction in
                try more(transaction)
                try transaction.execute("UPDATE change_log_incarnation SET value = 'another'")
            }
        }

        func revoke(_ connection: ClientConnection) -> @Sendable (any Transaction) throws -> Void {
            let thumbprint = connection.thumbprint
            return { transaction in
                let certificates = CertificateRepository(transaction)
                let serial = try certificates.find(thumbprint: thumbprint)?.serial ?? ""
                _ = try certificates.revoke(serial: serial, at: transaction.now, reason: "keyCompromise")
            }
        }
    }

    @Test("cost a node that takes over no more statements, however many it remembers")
    func statements() async throws {
        var costs: [Int] = []
        for devices in [2, 15] {
            try await ServiceFixture.run { fixture in
                var world = try await World(fixture)
                for _ in 0..<devices { try await world.connect() }
                try await world.interrupt()
                _ = world.store.take()
                try await world.context.invalidator.poll()
                costs.append(world.store.take().reads)
                // Each is as the store has it by now: nobody asks for it again.
                for connection in world.connections { try await world.judge(connection) }
                #expect(world.store.take().reads == 0)
            }
        }
        #expect(costs.count == 2 && costs.first == costs.last, "\(costs)")
    }

    @Test("are forgotten where no connection holds them")
    func unheld() async throws {
        try await ServiceFixture.run { fixture in
            var world = try await World(fixture)
            for _ in 0..<3 { try await world.connect() }
            world.connections.removeLast(2)
            try await world.interrupt()
            try await world.context.invalidator.poll()
            #expect(world.node.caches.certificates.count == 1)
        }
    }

    @Test("end a connection that nobody uses, once they are read and were revoked meanwhile")
    func idle() async throws {
        try await ServiceFixture.run { fixture in
            var world = try await World(fixture)
            for _ in 0..<2 { try await world.connect() }
            let now = fixture.clock.now
            try await world.interrupt(world.revoke(world.connections[0]))
            #expect(world.connections.map { $0.isValid(at: now) } == [true, true])
            try await world.context.invalidator.poll()
            #expect(world.connections.map { $0.isValid(at: now) } == [false, true])
        }
    }

    @Test("are refused as unknown where a failover lost what issued them, and in the next handshake")
    func lost() async throws {
        try await ServiceFixture.run { fixture in
            var world = try await World(fixture)
            try await world.connect()
            let connection = world.connections[0]
            try await world.interrupt {
                try $0.execute("DELETE FROM certificates WHERE thumbprint = $1", [.bytes(connection.thumbprint.bytes)])
            }
            try await world.context.invalidator.poll()
            for connection in [
                connection, ClientConnection(id: ConnectionID(UUID()), thumbprint: connection.thumbprint) {},
            ] {
                await #expect(throws: Refusal(.certificateRevoked, "")) { try await world.judge(connection) }
            }
        }
    }
}
