import Database
import Domain
import Foundation
import Repositories

package extension Administration {
    /// The live nodes of the store, oldest first, and the time by the store's clock.
    func listNodes() async throws -> (nodes: [ClusterMember], at: Date) {
        try await read(.audit) { (try ClusterMemberRepository($0).live(), $0.now) }
    }
}
