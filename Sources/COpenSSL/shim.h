#pragma once
#define OPENSSL_SUPPRESS_DEPRECATED 1
#include <openssl/engine.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ui.h>
#include <openssl/x509.h>

/// Finds the engine "pkcs11" and starts it on a module, with a PIN where there is one (it may be NULL).
/// NULL where any step fails; the reason is then in OpenSSL's error queue.
static inline ENGINE *COpenSSL_pkcs11_engine(const char *module_path, const char *pin) {
    ENGINE_load_builtin_engines();
    ENGINE *engine = ENGINE_by_id("pkcs11");
    if (engine == NULL) return NULL;
    if (ENGINE_ctrl_cmd_string(engine, "MODULE_PATH", module_path, 0) != 1
        || (pin != NULL && ENGINE_ctrl_cmd_string(engine, "PIN", pin, 0) != 1)
        || ENGINE_init(engine) != 1) {
        ENGINE_free(engine);
        return NULL;
    }
    return engine;
}

/// Loads the private key that a URI names. UI_null() keeps a missing PIN from being asked for on the terminal.
static inline EVP_PKEY *COpenSSL_pkcs11_key(ENGINE *engine, const char *uri) {
    return ENGINE_load_private_key(engine, uri, (UI_METHOD *)UI_null(), NULL);
}

/// Gives back both references that COpenSSL_pkcs11_engine took.
static inline void COpenSSL_pkcs11_release(ENGINE *engine) {
    ENGINE_finish(engine);
    ENGINE_free(engine);
}
