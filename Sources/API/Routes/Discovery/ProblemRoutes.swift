import Domain
import Hummingbird

/// The pages of the contract's codes and their list, on the public listener.
struct ProblemRoutes {
    let face: ListenerFace

    func add(to router: ListedRouter<PublicContext>) {
        router.get("problems", cost: .free) { [face] request, _ in
            ProblemIndex(face: face).response(to: request.headers)
        }
        router.get("problems/{code}", cost: .free) { [face] request, context in
            guard let kind = ProblemKind.of(try context.parameters.require("code")) else {
                throw Refusal.unknownProblemCode
            }
            return ProblemPage(kind: kind, face: face).response(to: request.headers)
        }
    }
}
