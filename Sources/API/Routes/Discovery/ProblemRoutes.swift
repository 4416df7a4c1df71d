import Domain
import Encoding
import Hummingbird
import NIOCore
import Synchronization

/// The pages of the contract's codes and their list, on the public listener.
///
/// Each page is built once, in each form, and all clients share its bytes. The calls are free, so anybody may ask for
/// many pages and read none.
final class ProblemRoutes: Sendable {
    private struct Place: Hashable {
        /// The code of a page; `nil` for the list.
        let code: String?
        let isHTML: Bool
    }

    /// The pages with links to an address, which is known when the listener runs.
    private struct Pages {
        var address = ""
        var bytes: [Place: ByteBuffer] = [:]
    }

    private let face: ListenerFace
    private let pages = Mutex(Pages())

    init(face: ListenerFace) {
        self.face = face
    }

    func add(to router: ListedRouter<PublicContext>) {
        router.get("problems", cost: .free) { [self] request, _ in
            HTMLPage.response(to: request.headers) { isHTML in
                bytes(Place(code: nil, isHTML: isHTML)) { ProblemIndex(face: face).bytes(isHTML: isHTML) }
            }
        }
        router.get("problems/{code}", cost: .free) { [self] request, context in
            guard let kind = ProblemKind.of(try context.parameters.require("code")) else {
                throw Refusal.unknownProblemCode
            }
            return HTMLPage.response(to: request.headers) { isHTML in
                bytes(Place(code: kind.code, isHTML: isHTML)) {
                    ProblemPage(kind: kind, face: face).bytes(isHTML: isHTML)
                }
            }
        }
    }

    private func bytes(_ place: Place, _ make: () -> ByteBuffer) -> ByteBuffer {
        let address = face.problemIndex
        return pages.withLock { pages in
            if !pages.address.hasSameBytes(as: address) { pages = Pages(address: address) }
            if let known = pages.bytes[place] { return known }
            let made = make()
            pages.bytes[place] = made
            return made
        }
    }
}
